import DeviceKit
import Foundation
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

@Suite("Families as data for programs", .timeLimit(.minutes(5)))
struct FamilyDescriptionTests {
    @Test("The description of every family fits the schema", arguments: Family.all)
    func schema(family: Family) {
        #expect(JSONSchema.pumpctld.fits(family.json, "family"), "\(family.json)")
        #expect((family.json["stop"] == nil) == (family.json["no_stop"] != nil))
    }

    @Test("The HTTP interface's document lists the commands of all families with their effects")
    func document() throws {
        let path = JSONSchema.repository.appending(path: "packaging/schema/http.openapi.json")
        let document = try JSONValue(Array(try Data(contentsOf: path)), size: .max)
        let commands = Family.all.map { family in
            let effects = (family.json["commands"]?.elements ?? []).map {
                ($0["name"]?.string ?? "", $0["effect"] ?? .null)
            }
            return (family.name, JSONValue.object(Dictionary(uniqueKeysWithValues: effects)))
        }
        let expected = JSONValue.object(Dictionary(uniqueKeysWithValues: commands))
        let schema = document["components"]?["schemas"]?["Command"]
        #expect(schema?["x-commands"]?.sorted == expected.sorted, "\(expected)")
    }

    @Test("A command has its effect, its danger and the limits of its parameters")
    func command() throws {
        let commands = try #require(Family.pump.json["commands"]?.elements)
        #expect(
            commands.map { $0["name"]?.string } == ["on", "off", "speed", "status", "temp"]
                && commands.map { $0["effect"]?.string } == ["change", "stop", "change", "query", "query"])
        #expect(
            commands[2]
                == .object([
                    "name": "speed", "summary": "Set the speed of a running pump.", "effect": "change",
                    "danger": "the pump is worn: it moves at another speed",
                    "parameters": .array([
                        .object([
                            "name": "speed", "summary": "the motor's speed (255 is full)", "type": "integer",
                            "minimum": 0,
                            "maximum": 255,
                        ])
                    ]),
                    "states": .array(["on"]),
                ]))
    }

    @Test("A share reads the line of each command with the effect in the description", arguments: Family.all)
    func effect(family: Family) throws {
        let row = try #require(SharedFamily.row(of: family))
        for command in family.commands where command.parameters.isEmpty {
            #expect(row.read(Array(command.line.utf8)).effect == command.effect, "\(command.name)")
        }
    }

    @Test("A field has the limits of its type, its levels, and the word for unknown")
    func fields() throws {
        let fields = try #require(Family.pump.json["state"]?.elements)
        #expect(
            fields.first
                == .object([
                    "key": "state", "label": "pump", "type": "choice", "choices": .array(["on", "off", "error"]),
                    "unknown": "unknown",
                ]))
        let skin = try #require(fields.first { $0["key"] == "skin_temp_c" })
        #expect(skin["type"] == "number" && skin["unit"] == "°C" && skin["minimum"]?.isNumber == true)
        let levels = try #require(skin["levels"]?.elements)
        #expect(levels.map { $0["word"]?.string } == ["cool", "optimal", "warm", "too hot"])
        #expect(
            levels.first == .object(["up_to": .number(33.9), "word": "cool", "grade": "good"])
                && levels.last == .object(["word": "too hot", "grade": "bad"]))
    }

    @Test("Remedies and reasons name the commands of the family")
    func advice() {
        let remedy = Family.pump.json["errors"]?.options.first?["remedy"]
        #expect(remedy?.string.hasPrefix("switch the pump on first: command 'on';") == true)
        #expect(
            Family.led.json["no_stop"] == "an LED board has no emergency stop: command 'off' switches the light off")
    }

    @Test("A family with a state query has the interval of polling")
    func polling() {
        #expect(Family.led.json["question"] == "get" && Family.led.json["poll_s"]?.number == 5)
        #expect(Family.storm.json["question"] == nil && Family.storm.json["poll_s"] == nil)
    }

    @Test("A family has the content that programs can fetch")
    func content() {
        #expect(Family.all.map { $0.json["content"]?.text } == [nil, "log", nil, "image", nil, nil])
    }

    @Test("describe lists the families of the devices once each, or the one that is named")
    func request() async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            let all = try await client.ask("describe")
            #expect(all["families"] == .array([Family.pump.json]))
            #expect(try await client.ask("describe", ["family": "pump"]) == all)
            let refusal = try await client.refusal("describe", ["family": "led"])
            #expect(refusal["message"] == "no device is of the family 'led'")
            #expect(refusal["hint"] == "use one of: pump")
        }
    }
}

extension JSONValue {
    /// The value with the members of all objects in the order of their names.
    fileprivate var sorted: String {
        guard let members = dictionary else { return json }
        return "{" + members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.sorted)" }.joined(separator: ",")
            + "}"
    }
}
