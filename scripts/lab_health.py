"""The health that a lab names at its end, for the scripts that score in `slowpath shell`."""
import re


def health(stderr):
    """valid, degraded or invalid; failed where the lab did not come to its end."""
    found = re.search(r"^slowpath: (?:run )?(valid|degraded|invalid)", stderr, re.M)
    return found.group(1) if found else "failed"
