import DescriptorIO
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Simulated devices by HTTP", .timeLimit(.minutes(5)))
struct SimulatorTests {
    private let path = "/api/v1/devices/pump/simulator"

    @Test("The verbs of a device come from the daemon")
    func verbs() async throws {
        try await PageBench.run { bench in
            let asking = Task { try await bench.ask("GET", path) }
            let heard = try await bench.daemon.next("simulator")
            #expect(heard.request["device"]?.text == "pump")
            try await heard.answer(["verbs": .array([]), "state": object([:])])
            #expect(String(decoding: try await asking.value.body, as: UTF8.self) == "{\"state\":{},\"verbs\":[]}\n")
        }
    }

    @Test("An action needs no id and no 'seen', and goes to the daemon with its arguments and its sender")
    func action() async throws {
        try await PageBench.run { bench in
            let body = object(["verb": "temperature", "arguments": .array(["skin", "41"])])
            let asking = Task { try await bench.ask("POST", path, body) }
            let heard = try await bench.daemon.next("simulate")
            #expect(heard.request["verb"]?.text == "temperature")
            #expect(heard.request["arguments"] == .array(["skin", "41"]))
            #expect(heard.request["by"]?.text?.hasPrefix("page session ") == true)
            try await heard.answer(["state": object(["state": "off"])])
            let response = try await asking.value
            #expect(response.outcome == "done" && response.json["state"]?["state"] == "off")
        }
    }

    @Test("If the daemon ends before its answer, the outcome of an action is unknown; a query has changed nothing")
    func lost() async throws {
        try await PageBench.run { bench in
            for (method, verb, outcome) in [("POST", "simulate", "unknown"), ("GET", "simulator", "nothing_changed")] {
                let body = method == "POST" ? object(["verb": "press"]) : nil
                let asking = Task { try await bench.ask(method, path, body) }
                let heard = try await bench.daemon.next(verb)
                await heard.channel.close()
                let response = try await asking.value
                #expect(response.code == "daemon_lost" && response.outcome == outcome)
            }
        }
    }

    @Test(
        "A body of another form is refused, and does not reach the daemon",
        arguments: [
            "{}", #"{"verb":1}"#, #"{"verb":"press","arguments":"hard"}"#, #"{"verb":"turn","arguments":[0.5]}"#,
            #"{"verb":"press","device":"other"}"#, #"{"verb":"press","do":"stop"}"#, "[]",
        ])
    func wrong(body: String) async throws {
        try await PageBench.run { bench in
            let response = try await bench.ask("POST", path, try JSONValue(parsing: body))
            #expect(response.status == 400 && response.outcome == "not_sent")
            #expect(bench.daemon.count("simulate") == 0)
        }
    }
}
