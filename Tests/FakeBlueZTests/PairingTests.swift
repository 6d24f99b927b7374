import DBus
import FakeBlueZ
import FirmwareSim
import TestSupport
import Testing

@Suite("Pairing of the fake bluetoothd", .timeLimit(.minutes(5)))
struct PairingTests {
    private static let agent: ObjectPath = "/agent"

    /// Calls `body` with a connected pump that requires pairing.
    private func withPump(
        _ method: PairingMethod, _ body: (FakeBench, HM10<PumpFirmware>) async throws -> Void
    ) async throws {
        try await withConnectedPump { bench, pump in
            await Radio.run {
                pump.radio.manners.needsPairing = true
                pump.radio.manners.pairing = method
            }
            try await body(bench, pump)
        }
    }

    /// Registers an agent that confirms the number `right` and enters `typed`.
    private func registerAgent(_ bench: FakeBench, right: UInt32 = 0, typed: UInt32 = 0) async throws {
        let device = DBusArgument("device", "o")
        let passkey = DBusArgument("passkey", "u")
        try await bench.client.connection.export(
            DBusObject(
                Self.agent,
                [
                    DBusInterface(
                        "org.bluez.Agent1",
                        methods: [
                            DBusMethod("RequestConfirmation", inputs: [device, passkey]) { call in
                                if call.arguments.last?.uint32 == right { return [] }
                                throw DBusError(answering: "org.bluez.Error.Rejected", "no")
                            },
                            DBusMethod("RequestPasskey", inputs: [device], outputs: [passkey]) { _ in
                                [.uint32(typed)]
                            },
                        ])
                ]))
        try await bench.client.call(
            "", "AgentManager1", "RegisterAgent", [.objectPath(Self.agent), .string("KeyboardDisplay")])
    }

    private func pair(_ bench: FakeBench) async -> String { await bench.client.failure(pumpPath, "Device1", "Pair") }

    @Test func `A characteristic that needs pairing is refused until the device is paired`() async throws {
        try await withPump(.justWorks) { bench, pump in
            let refused = await bench.client.failure(
                linePath, "GattCharacteristic1", "StartNotify")
            #expect(refused == "NotPermitted: Not paired")
            await Radio.run { pump.radio.manners.pairingError = BlueZError.attribute(0x0F) }
            #expect(
                await bench.client.failure(linePath, "GattCharacteristic1", "ReadValue", [.noOptions])
                    == "Failed: Operation failed with ATT error: 0x0f")
            // A write without response reports no error.
            try await bench.client.call(
                linePath, "GattCharacteristic1", "WriteValue", [.text("TEMP\n"), .noOptions])
            #expect(await pair(bench) == "done")
            try await bench.client.hears("\(pumpPath) Paired=true")
            try await bench.client.call(linePath, "GattCharacteristic1", "StartNotify")
            #expect(await pair(bench) == "AlreadyExists: Already Exists")
        }
    }

    @Test func `Pairing asks the client's agent`() async throws {
        try await withPump(.confirmation(123_456)) { bench, pump in
            #expect(await pair(bench) == "AuthenticationFailed: Authentication Failed")
            try await registerAgent(bench, right: 123_456, typed: 42)
            await Radio.run { pump.radio.manners.pairing = .confirmation(1) }
            #expect(await pair(bench) == "AuthenticationRejected: Authentication Rejected")
            await Radio.run { pump.radio.manners.pairing = .entry(41) }
            #expect(await pair(bench) == "AuthenticationFailed: Authentication Failed")
            await Radio.run { pump.radio.manners.pairing = .refused }
            #expect(await pair(bench) == "AuthenticationFailed: Authentication Failed")
            await Radio.run { pump.radio.manners.pairing = .confirmation(123_456) }
            #expect(await pair(bench) == "done")
        }
    }

    @Test func `A client has one agent, with a valid capability`() async throws {
        try await withBench { bench in
            func manager(_ member: String, _ arguments: DBusValue...) async -> String {
                await bench.client.failure("", "AgentManager1", member, [.objectPath(Self.agent)] + arguments)
            }
            #expect(await manager("RegisterAgent", .string("Telepathy")).hasPrefix("InvalidArguments"))
            #expect(await manager("RequestDefaultAgent") == "DoesNotExist: Does Not Exist")
            #expect(await manager("RegisterAgent", .string("NoInputNoOutput")) == "done")
            #expect(await manager("RegisterAgent", .string("")) == "AlreadyExists: Already Exists")
            #expect(await manager("RequestDefaultAgent") == "done")
            #expect(await manager("UnregisterAgent") == "done")
            #expect(await manager("UnregisterAgent") == "DoesNotExist: Does Not Exist")
        }
    }
}
