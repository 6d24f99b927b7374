import FirmwareSim
import Testing

@testable import Verification

@Suite("Host checks")
struct HostRowTests {
    private static let simulators: [Simulator] = [.pump, .storm, .led, .peer, .rescue]

    @Test("Each family's host checks have unique ids, and expectations that its simulator accepts")
    func rows() throws {
        #expect(HostVerification.all.map(\.family) == Self.simulators.map(\.name))
        for (verification, simulator) in zip(HostVerification.all, Self.simulators) {
            #expect(verification.devices.first?.name == "plain")
            var ids: Set<String> = []
            for device in verification.devices {
                #expect(!device.checks.isEmpty)
                var rules: [String] = []
                for check in device.checks {
                    #expect(ids.insert(verification.id(of: check, with: device)).inserted)
                    rules += check.expectations
                }
                var given = device.options
                if !rules.isEmpty { given["expect"] = rules.joined(separator: ",") }
                #expect(try simulator.settings(given).expectations().count == rules.count)
                // Checks that need a terminal are left out over BLE.
                let isTerminal = device.checks.filter(\.needsTerminal).map(\.judgement)
                given["expect"] = rules.first { !isTerminal.contains(.rule($0)) }
                #expect(throws: Never.self) { try simulator.settings(given, over: .radio) }
            }
        }
    }
}
