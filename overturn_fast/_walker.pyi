"""The native engine: the signatures and docstrings of the pure one."""

from typing import Final

from overturn_fast._pure.call_key import call_fingerprint as call_fingerprint
from overturn_fast._pure.fingerprints import ToolFingerprinter as ToolFingerprinter
from overturn_fast._pure.fingerprints import canonical_json as canonical_json
from overturn_fast._pure.fingerprints import canonical_with as canonical_with
from overturn_fast._pure.fingerprints import compat_canonical_json as compat_canonical_json
from overturn_fast._pure.fingerprints import compat_fingerprint as compat_fingerprint
from overturn_fast._pure.fingerprints import compat_hash_json as compat_hash_json
from overturn_fast._pure.fingerprints import compat_tool_fingerprint as compat_tool_fingerprint
from overturn_fast._pure.fingerprints import fingerprint as fingerprint
from overturn_fast._pure.fingerprints import fingerprint_many as fingerprint_many
from overturn_fast._pure.fingerprints import hash_json as hash_json
from overturn_fast._pure.fingerprints import hash_with as hash_with
from overturn_fast._pure.fingerprints import tool_fingerprint as tool_fingerprint
from overturn_fast._pure.jcs import dumps as dumps
from overturn_fast._pure.jcs import sha256 as sha256
from overturn_fast._pure.mcpulse import args_hash as args_hash
from overturn_fast._pure.mcpulse import json_size as json_size
from overturn_fast._pure.mcpulse import utf16_length as utf16_length
from overturn_fast._pure.shape import shape as shape
from overturn_fast._pure.shape import shape_fingerprint as shape_fingerprint
from overturn_fast._pure.shape_counter import shape_counter as shape_counter

VERSION: Final[str]
