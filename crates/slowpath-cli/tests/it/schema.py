"""Holds experiment files against the schema: reads {"schema": PATH, "files": [PATH, ...]} and answers {PATH: [fault, ...]}."""

import json
import sys
import tomllib

import jsonschema

asked = json.load(sys.stdin)
with open(asked["schema"], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
checker = jsonschema.Draft202012Validator(schema)
answer = {}
for path in asked["files"]:
    with open(path, "rb") as file:
        document = tomllib.load(file)
    answer[path] = [
        "/".join(map(str, fault.absolute_path)) + ": " + fault.message[:300] for fault in checker.iter_errors(document)
    ]
print(json.dumps(answer))
