import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("Documentation of the verbs of sim ctl", .timeLimit(.minutes(5)))
struct SimVerbsTests {
    private static let simulators: [Simulator] = [.pump, .storm, .led, .peer, .rescue, .raw, .module]
    /// The verbs that every simulator has at its control socket.
    private static let common = ["advance", "fault", "reset", "set", "state", "stop", "verbs"]

    /// The verbs of all simulators, and the common ones.
    private static func verbs() throws -> Set<String> {
        func names<Device: SimulatedDevice>(_ device: Device) -> [String] { Device.verbs.map(\.name) }
        return try simulators.reduce(into: Set(common)) { verbs, simulator in
            verbs.formUnion(names(try simulator.device(try simulator.settings())))
        }
    }

    @Test("The table in docs/simulator-reference.md has every verb and no others")
    func table() throws {
        let page = JSONSchema.repository.appending(path: "docs/simulator-reference.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let section = try #require(text.split(separator: "## Control while it runs").last)
        let rows = section.split(separator: "\n").drop { !$0.hasPrefix("| verb") }.dropFirst(2).prefix {
            $0.hasPrefix("|")
        }
        let words = rows.flatMap { row in
            // A row may name several verbs: `connect`, `disconnect`.
            row.split(separator: "|")[0].matches(of: /`([a-z]+)/).map { String($0.1) }
        }
        #expect(try Set(words) == Self.verbs())
        #expect(words.count == Set(words).count)
    }

    @Test("sim ctl --help names every verb")
    func help() async throws {
        let help = try await Pumpctl.run("sim", "ctl", "--help").output
        let words = Set(help.split { !$0.isLetter }.map(String.init))
        for verb in try Self.verbs() { #expect(words.contains(verb), "\(verb)") }
    }
}
