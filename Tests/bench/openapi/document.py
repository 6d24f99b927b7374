"""The OpenAPI document, and the check of answers and events against it."""

import json
import re

import jsonschema

import rig


class Document:
    def __init__(self) -> None:
        self.root = json.loads(rig.DOCUMENT.read_text())
        # The statuses and codes of the problems that were checked, such as "503 daemon_away".
        self.seen: set[str] = set()
        self.count = 0

    def resolved(self, value: dict) -> dict:
        """Return the object that a reference leads to; any other object as it is."""
        while "$ref" in value:
            target = self.root
            for name in value["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            value = target
        return value

    def operation(self, method: str, path: str) -> dict:
        """Return the document's description of a request; {} if it has none."""
        for template, item in self.root["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path.split("?")[0]):
                return item.get(method.lower(), {})
        return {}

    def flaw(self, value, schema: dict) -> str | None:
        """Return the reason why a value does not fit a schema of the document; None if it fits."""
        validator = jsonschema.Draft202012Validator({"components": self.root["components"], **schema})
        error = jsonschema.exceptions.best_match(validator.iter_errors(value))
        return error and f"{error.json_path}: {error.message}"

    def check(self, method: str, path: str, answer: rig.Answer) -> None:
        """Check an answer; end the program if the document does not describe it."""
        self.count += 1
        where = f"{method} {path}: {answer.status} {answer.body[:300]!r}"
        responses = self.operation(method, path).get("responses", {})
        response = responses.get(str(answer.status))
        # The document can't list unknown paths, and the methods that a path does not have.
        if not response and answer.status in (404, 405) and answer.json["code"] in ("no_such_path", "wrong_method"):
            response = self.root["components"]["responses"][{404: "NotFound", 405: "WrongMethod"}[answer.status]]
        if not response:
            raise SystemExit(f"{where}: the document has {', '.join(responses)}")
        response = self.resolved(response)
        for name, header in response.get("headers", {}).items():
            if header.get("required") and name not in answer.headers:
                raise SystemExit(f"{where}: the header {name} is missing")
        kinds = response.get("content", {})
        if not kinds and not answer.body:
            return
        if answer.type not in kinds:
            raise SystemExit(f"{where}: its type is {answer.type}")
        if not answer.type.endswith(("/json", "+json")):
            return
        if flaw := self.flaw(answer.json, kinds[answer.type]["schema"]):
            raise SystemExit(f"{where}: {flaw}")
        if answer.type == "application/problem+json":
            self.seen.add(f"{answer.status} {answer.json['code']}")

    def check_event(self, name: str, data: str) -> None:
        self.count += 1
        kinds = self.operation("GET", "/api/v1/events")["responses"]["200"]["content"]["text/event-stream"]["x-events"]
        if name not in kinds:
            raise SystemExit(f"the event {name} is not in the document")
        if flaw := self.flaw(json.loads(data), kinds[name]):
            raise SystemExit(f"event {name} {data}: {flaw}")
