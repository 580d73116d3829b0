"""``python -m overturn_fast.cli``."""

from overturn_fast.cli import main

if __name__ == "__main__":
    main()
