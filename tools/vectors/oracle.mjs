// Canonical forms of JSON texts, on nothing but ECMAScript: an oracle for the fixture files.
//
// Written from the contracts alone, in another language than everything it is compared with. Reads a
// JSON array of {contract, text, tool, matchOn, ignoreArgs} on standard input and writes an array of
// {canonical, digest} or {error}.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

class NoCanonicalForm extends Error {}

// ---- JSON text, with numbers and members as they are written ----------------------------------

const TOKEN = /[ \t\r\n]*([{}[\],:]|true|false|null|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

class Literal {
    constructor(text) {
        this.text = text;
    }
}

function parse(text) {
    TOKEN.lastIndex = 0;
    const next = () => {
        const match = TOKEN.exec(text);
        if (match === null) throw new SyntaxError(text);
        return match[1];
    };
    const value = (token) => {
        switch (token[0]) {
            case "{": {
                const members = [];
                for (let key = next(); key !== "}"; key = next()) {
                    if (key === ",") key = next();
                    if (next() !== ":") throw new SyntaxError(text);
                    members.push([JSON.parse(key), value(next())]);
                }
                return { members };
            }
            case "[": {
                const items = [];
                for (let item = next(); item !== "]"; item = next()) {
                    items.push(value(item === "," ? next() : item));
                }
                return items;
            }
            case '"':
            case "t":
            case "f":
            case "n":
                return JSON.parse(token);
            default:
                return new Literal(token);
        }
    };
    return value(next());
}

// ---- what the contracts have in common ---------------------------------------------------------

function distinct(members, lastWins) {
    const byKey = new Map();
    for (const [key, item] of members) {
        if (byKey.has(key) && !lastWins) throw new NoCanonicalForm("a name twice");
        byKey.delete(key);
        byKey.set(key, item);
    }
    return [...byKey];
}

function objectText(members, write) {
    return "{" + members.map(([key, item]) => JSON.stringify(key) + ":" + write(item)).join(",") + "}";
}

// ---- RFC 8785, and MCPulse on top of it --------------------------------------------------------

function double(literal) {
    const number = Number(literal.text);
    if (!Number.isFinite(number)) throw new NoCanonicalForm("not a finite number");
    return JSON.stringify(number);
}

function wellFormed(text, escapes) {
    if (!escapes && !text.isWellFormed()) throw new NoCanonicalForm("a lone surrogate");
    return text;
}

function rfc8785(value, escapes) {
    const write = (item) => rfc8785(item, escapes);
    if (value instanceof Literal) return double(value);
    if (Array.isArray(value)) return "[" + value.map(write).join(",") + "]";
    if (value !== null && typeof value === "object") {
        const members = distinct(value.members, false);
        members.forEach(([key]) => wellFormed(key, escapes));
        return objectText(members.sort(([a], [b]) => (a < b ? -1 : 1)), write);
    }
    if (typeof value === "string") wellFormed(value, escapes);
    return JSON.stringify(value);
}

// ---- Overturn, version 1 -----------------------------------------------------------------------

const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const AROUND = new RegExp(`^${SPACE}+|${SPACE}+$`, "gu");
const LIMIT = 10n ** 21n;

function exactNumber(literal) {
    if (/^-?\d+$/.test(literal.text)) {
        const integer = BigInt(literal.text);
        if (integer < LIMIT && integer > -LIMIT) return integer.toString();
    }
    const number = Number(literal.text);
    if (Number.isInteger(number) && Math.abs(number) < 1e21) return BigInt(number).toString();
    return JSON.stringify(number);
}

function byCodePoint([a], [b]) {
    const left = Array.from(a, (character) => character.codePointAt(0));
    const right = Array.from(b, (character) => character.codePointAt(0));
    for (let i = 0; i < left.length && i < right.length; i++) {
        if (left[i] !== right[i]) return left[i] - right[i];
    }
    return left.length - right.length;
}

function overturn(value) {
    if (value instanceof Literal) return exactNumber(value);
    if (Array.isArray(value)) {
        return "[" + value.filter((item) => item !== null).map(overturn).join(",") + "]";
    }
    if (value !== null && typeof value === "object") {
        const members = distinct(value.members, true).filter(([, item]) => item !== null);
        return objectText(members.sort(byCodePoint), overturn);
    }
    return JSON.stringify(typeof value === "string" ? value.replace(AROUND, "") : value);
}

function selected(value, matchOn, ignoreArgs) {
    if (value === null || value instanceof Literal || !("members" in Object(value))) return value;
    const isKept = matchOn?.length
        ? ([key]) => matchOn.includes(key)
        : ([key]) => !(ignoreArgs ?? []).includes(key);
    return { members: value.members.filter(isKept) };
}

// ---- requests ----------------------------------------------------------------------------------

const sha256 = (text) => createHash("sha256").update(text, "utf8").digest("hex");

function answer({ contract, text, tool, matchOn, ignoreArgs }) {
    const value = parse(text);
    switch (contract) {
        case "jcs": {
            const canonical = rfc8785(value, false);
            return { canonical, digest: sha256(canonical) };
        }
        case "mcpulse": {
            const canonical = rfc8785(value, true);
            return { canonical, digest: sha256(value === null ? "{}" : canonical).slice(0, 12) };
        }
        case "overturn": {
            const canonical = overturn(selected(value, matchOn, ignoreArgs));
            return { canonical, digest: sha256(`tool_call\n${tool}\n${canonical}`) };
        }
        default:
            throw new RangeError(contract);
    }
}

function guarded(request) {
    try {
        return answer(request);
    } catch (error) {
        if (error instanceof NoCanonicalForm) return { error: error.message };
        throw error;
    }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(guarded)));
