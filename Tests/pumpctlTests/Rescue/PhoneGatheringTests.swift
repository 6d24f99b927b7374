import DBus
import FakeBlueZ
import FirmwareSim
import Foundation
import LineProtocol
import TestSupport
import Testing

@Suite("All phones in reach, as ble:*", .timeLimit(.minutes(5)))
struct PhoneGatheringTests {
    /// A phone with the rescue app in reach of the bench.
    @Radio
    private final class Phone {
        let radio: RadioDevice
        private let messages = RadioCharacteristic("FFF1", [.notify, .write])
        /// The bytes that were written to the phone.
        let written = Watched(ReceivedText())

        /// - Parameter errors: The errors of the first connection attempts, in order.
        init(_ number: Int, on bench: BLEBench, failing errors: [DBusError] = []) {
            radio = RadioDevice(
                Self.address(number), Advertisement(name: "Phone \(number)", services: ["FFF0"]))
            radio.signalStrength = Int16(-40 - 10 * number)
            radio.manners.mtu = 517
            radio.manners.connectErrors = errors
            radio.services = [RadioService("FFF0", [messages])]
            messages.onWrite = { [written] bytes, _ in written.update { $0.bytes += bytes } }
            bench.fake.add(radio)
        }

        nonisolated static func address(_ number: Int) -> String { "00:00:5E:00:54:0\(number)" }

        func say(_ message: PhoneMessage) { messages.notify(message.json) }

        func leave() {
            radio.isAdvertising = false
            radio.dropLinks()
        }

        func comeBack() { radio.isAdvertising = true }
    }

    /// Errors for connection attempts that exceed the adapter's limit.
    private static let full = Array(
        repeating: BlueZError.failed("le-connection-concurrent-connection-limit"), count: 100)
    /// Connection errors of a phone that can't be used.
    private static let unsupported = Array(repeating: BlueZError.notSupported, count: 100)

    private func start(
        _ arguments: [String], on bench: BLEBench, in folder: TemporaryFolder
    ) async throws -> ChildProcess {
        var environment = bench.environment
        environment["XDG_DATA_HOME"] = folder.path
        return try await Pumpctl.start(arguments, environment: environment)
    }

    /// Waits until a program with `--json` has printed an event of a phone.
    private func wait(for event: String, of number: Int, in program: ChildProcess) async throws {
        let record = #""event":"\#(event)","name":"Phone \#(number)","port":"ble:\#(Phone.address(number))""#
        _ = try await program.output.wait(for: "\(event) of \(number)") { $0.text.contains(record) ? true : nil }
    }

    /// The status of each stored message, by its text.
    private func contents(_ bench: BLEBench, in folder: TemporaryFolder) async throws -> [String: String] {
        let list = try await start(["--json", "rescue", "list"], on: bench, in: folder).ending()
        let pairs = try list.objects().map { ($0["content"] as? String ?? "", $0["status"] as? String ?? "") }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test("listen connects to each phone in reach, up to the adapter's limit")
    func listen() async throws {
        try await withBLEBench { bench in
            let folder = TemporaryFolder()
            let stock = (0..<100).map { PhoneStock(seed: 7).message($0) }
            let plain = stock.filter { $0.category != "SOS" }
            let isSOS: (PhoneMessage) -> Bool = { $0.category == "SOS" }
            let sos = try #require(stock.first(where: isSOS))
            let first = await Phone(1, on: bench)
            let broken = await Phone(2, on: bench, failing: Self.unsupported)
            let program = try await start(
                ["--json", "-p", "ble:*", "rescue", "listen", "--until-sos"], on: bench, in: folder)
            try await wait(for: "came", of: 1, in: program)
            try await program.errors.text(upTo: "Phone 2 (ble:\(Phone.address(2)))")
            await first.say(plain[0])
            _ = try await program.output.text(upTo: plain[0].id.uuidString)
            // Two more phones come while one is connected. The adapter refuses the last one at first.
            let second = await Phone(3, on: bench)
            try await wait(for: "came", of: 3, in: program)
            let third = await Phone(4, on: bench, failing: [Self.full[0]])
            try await program.errors.text(upTo: "waits until another phone disconnects")
            await second.say(plain[1])
            await first.say(plain[2])
            _ = try await program.output.wait(for: "two messages") { output in
                plain[1...2].allSatisfy { output.text.contains($0.id.uuidString) } ? true : nil
            }
            await first.leave()
            try await wait(for: "left", of: 1, in: program)
            try await wait(for: "came", of: 4, in: program)
            await second.say(plain[3])
            await third.say(sos)
            let ending = try await program.ending()
            #expect(ending.status == 0, "\(ending)")
            let kept = try await contents(bench, in: folder)
            #expect(kept[sos.content] == "pending_sync" && kept[plain[0].content] == "pending_sync")
            #expect(broken.written.state.text == "")
        }
    }

    @Test("A phone that left is connected again when it is back")
    func back() async throws {
        try await withBLEBench { bench in
            let folder = TemporaryFolder()
            let phone = await Phone(1, on: bench)
            let program = try await start(
                ["--json", "-p", "ble:*", "rescue", "listen", "--count", "1"], on: bench, in: folder)
            try await wait(for: "came", of: 1, in: program)
            await phone.leave()
            try await wait(for: "left", of: 1, in: program)
            program.output.update { $0.bytes = [] }
            await phone.comeBack()
            try await wait(for: "came", of: 1, in: program)
            let message = PhoneStock(seed: 7).message(0)
            await phone.say(message)
            #expect(try await program.ending().status == 0)
            let kept = try await contents(bench, in: folder)
            #expect(kept[message.content] != nil)
        }
    }

    @Test("sync sends to every phone in reach, despite one that fails")
    func sync() async throws {
        try await withBLEBench { bench in
            let folder = TemporaryFolder()
            for text in ["one", "two"] {
                let kept = try await start(
                    ["rescue", "send", "--later", "--at", "1,2", text], on: bench, in: folder
                ).ending()
                #expect(kept.status == 0, "\(kept)")
            }
            let phones = [
                await Phone(1, on: bench, failing: Self.unsupported), await Phone(2, on: bench),
                await Phone(3, on: bench),
            ]
            let sync = try await start(["-p", "ble:*", "rescue", "sync"], on: bench, in: folder).ending()
            #expect(sync.status == 0 && sync.output == "2 messages sent\n", "\(sync)")
            #expect(sync.errors.contains("Phone 1 (ble:\(Phone.address(1))): "))
            #expect(sync.errors.contains("Phone 2 (ble:\(Phone.address(2))) is served"))
            for phone in phones[1...] {
                let text = phone.written.state.text
                #expect(text.contains("\"one\"") && text.contains("\"two\""))
            }
            #expect(phones[0].written.state.text == "")
            #expect(try await contents(bench, in: folder) == ["one": "synced", "two": "synced"])
        }
    }

    @Test("A failure of the record ends sync, though its time is not over")
    func recordFails() async throws {
        try await withBLEBench { bench in
            let folder = TemporaryFolder()
            _ = try await start(["rescue", "send", "--later", "--at", "1,2", "one"], on: bench, in: folder).ending()
            let program = try await start(["-p", "ble:*", "rescue", "sync", "--for", "60s"], on: bench, in: folder)
            // sync has read the messages before it searches.
            try await bench.untilCalled("StartDiscovery")
            let holder = try await RecordLock(of: folder)
            let phone = await Phone(1, on: bench)
            let ending = try await program.ending()
            expectFailure(ending, 69, saying: "locked", hint: "fuser -v ")
            #expect(phone.written.state.text.contains("\"one\""))
            try await holder.end()
            #expect(try await contents(bench, in: folder) == ["one": "pending_sync"])
        }
    }

    @Test("sync without a working phone keeps its messages and reports the failure")
    func nobody() async throws {
        try await withBLEBench { bench in
            let folder = TemporaryFolder()
            _ = try await start(
                ["rescue", "send", "--later", "--at", "1,2", "one"], on: bench, in: folder
            ).ending()
            let phone = await Phone(1, on: bench, failing: Self.full)
            let sync = try await start(["--json", "-p", "ble:*", "rescue", "sync"], on: bench, in: folder).ending()
            expectFailure(sync, 69, saying: "the Bluetooth adapter takes no more connections", hint: "rescue sync")
            #expect(try await contents(bench, in: folder) == ["one": "pending_sync"])
            #expect(phone.written.state.text == "")
        }
    }
}
