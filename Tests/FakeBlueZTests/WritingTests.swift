import DBus
import DeviceTestKit
import FakeBlueZ
import FirmwareSim
import TestSupport
import Testing

@Suite("Writes of the fake bluetoothd", .timeLimit(.minutes(5)))
struct WritingTests {
    private static let board = "hci0/dev_C0_FF_EE_00_00_02"
    private static let item = board + "/service0001/char0002"

    /// Calls `body` with a connected device that has one characteristic, and with the record of the writes to it: kind
    /// and size.
    private func withBoard(
        _ flags: [RadioCharacteristic.Flag] = [.read, .write, .notify], _ manners: LinkManners = LinkManners(),
        _ body: (FakeBench, RadioDevice, Watched<[String]>) async throws -> Void
    ) async throws {
        try await withBench { bench in
            let written = Watched<[String]>([])
            let board = await Radio.run {
                let board = RadioDevice("C0:FF:EE:00:00:02", Advertisement(name: "Board", services: ["FFF0"]))
                board.manners = manners
                let item = RadioCharacteristic("FFF1", flags, value: Array("old".utf8))
                item.onWrite = { bytes, request in
                    let kind = request.wantsAnswer ? request.isLong ? "long" : "request" : "command"
                    written.update { $0.append("\(kind) \(bytes.count)") }
                }
                board.services = [RadioService("FFF0", [item])]
                bench.fake.add(board)
                return board
            }
            try await bench.client.call("hci0", "Adapter1", "StartDiscovery")
            try await bench.client.hears("+ \(Self.board) Device1")
            try await bench.client.call(Self.board, "Device1", "Connect")
            try await bench.client.hears("\(Self.board) ServicesResolved=true")
            try await body(bench, board, written)
        }
    }

    /// Writes `count` bytes; returns the error, or "done".
    private func write(_ bench: FakeBench, _ count: Int, _ type: String? = nil) async -> String {
        let bytes = DBusValue.bytes(Array(repeating: 7, count: count))
        return await bench.client.failure(
            Self.item, "GattCharacteristic1", "WriteValue", [bytes, type.map { .writeType($0) } ?? .noOptions])
    }

    @Test func `A write during another one gets InProgress`() async throws {
        var manners = LinkManners()
        manners.writeDelay = .seconds(1)
        try await withBoard([.write], manners) { bench, _, written in
            async let first = write(bench, 3)
            await bench.clock.untilSomebodySleeps(until: .seconds(1))
            #expect(await write(bench, 3) == "InProgress: In Progress")
            bench.clock.advance(by: .seconds(1))
            #expect(await first == "done")
            #expect(written.state == ["request 3"])
        }
    }

    @Test func `A write request ignores the flags and becomes long if it does not fit`() async throws {
        try await withBoard([.writeWithoutResponse]) { bench, _, written in
            #expect(await write(bench, 20, "request") == "done")
            #expect(await write(bench, 21, "request") == "done")
            #expect(await write(bench, 20) == "done")
            #expect(await write(bench, 21) == "Failed: Failed to initiate write")
            #expect(await write(bench, 21, "command") == "Failed: Failed to initiate write")
            #expect(written.state == ["request 20", "long 21", "command 20"])
        }
    }

    @Test func `Writing or reading without the matching flag is refused`() async throws {
        try await withBoard([.notify]) { bench, _, _ in
            #expect(await write(bench, 1) == "NotSupported: Operation is not supported")
            #expect(await write(bench, 1, "loudly") == "InvalidArguments: Invalid arguments in method call")
            let read = await bench.client.failure(Self.item, "GattCharacteristic1", "ReadValue", [.noOptions])
            #expect(read == "NotPermitted: Read not permitted")
            let socket = await bench.client.failure(Self.item, "GattCharacteristic1", "AcquireWrite", [.noOptions])
            #expect(socket == "NotSupported: Operation is not supported")
        }
    }

    @Test func `A write during which the device disconnects fails`() async throws {
        var manners = LinkManners()
        manners.writesUntilLoss = 1
        try await withBoard([.write], manners) { bench, _, written in
            #expect(await write(bench, 1) == "done")
            #expect(await write(bench, 2) == "Failed: Operation failed with ATT error: 0x0e")
            try await bench.client.hears("\(Self.board) Connected=false")
            #expect(await write(bench, 3) == "Failed: Not connected")
            #expect(written.state == ["request 1"])
        }
    }

    @Test func `The end of the link ends a write`() async throws {
        var manners = LinkManners()
        manners.writeDelay = .seconds(1)
        try await withBoard([.write], manners) { bench, board, written in
            async let first = write(bench, 3)
            await bench.clock.untilSomebodySleeps(until: .seconds(1))
            await board.dropLinks()
            #expect(await first == "Failed: Operation failed with ATT error: 0x0e")
            #expect(written.state == [])
        }
    }

    @Test func `A service claimed by a plugin refuses writes`() async throws {
        var manners = LinkManners()
        manners.claimedServices = ["FFF0"]
        try await withBoard([.write], manners) { bench, _, _ in
            #expect(await write(bench, 1) == "NotAuthorized: Operation Not Authorized")
        }
    }

    @Test func `The MTU can be stale for a while, or missing`() async throws {
        var manners = LinkManners()
        manners.mtu = 185
        manners.staleMTU = 23
        manners.mtuDelay = .milliseconds(50)
        try await withBoard([.write], manners) { bench, _, _ in
            func mtu() async throws -> DBusValue {
                try await bench.client.property(Self.item, "GattCharacteristic1", "MTU")
            }
            #expect(try await mtu() == .uint16(23))
            await bench.clock.untilSomebodySleeps(until: .milliseconds(50))
            bench.clock.advance(by: .milliseconds(50))
            // The change is not signalled; clients see it only when they read the property.
            while try await mtu() != .uint16(185) {}
            await Radio.run { bench.fake.showsMTU = false }
            try await bench.client.call(Self.board, "Device1", "Disconnect")
            try await bench.client.hears("\(Self.board) Connected=false")
            try await bench.client.call(Self.board, "Device1", "Connect")
            try await bench.client.hears("\(Self.board) ServicesResolved=true")
            let error = await #expect(throws: DBusError.self) { try await mtu() }
            #expect(error?.name == .unknownProperty)
        }
    }

    @Test func `An acquired socket takes packets that fit and drops longer ones silently`() async throws {
        try await withBoard([.writeWithoutResponse]) { bench, _, written in
            let reply = try await bench.client.call(Self.item, "GattCharacteristic1", "AcquireWrite", [.noOptions])
            #expect(reply.last == .uint16(23))
            let socket = try #require(reply.first?.unixFD)
            try await bench.client.hears("\(Self.item) WriteAcquired=true")
            #expect(await write(bench, 1) == "NotPermitted: Write acquired")
            let again = await bench.client.failure(Self.item, "GattCharacteristic1", "AcquireWrite", [.noOptions])
            #expect(again == "NotPermitted: Write acquired")
            for count in [20, 21, 5] { socket.sendPacket(Array(repeating: 1, count: count)) }
            _ = try await written.wait(for: "the last packet") { $0.contains("command 5") ? true : nil }
            #expect(written.state == ["command 20", "command 5"])
            try await bench.client.call(Self.board, "Device1", "Disconnect")
            try await bench.client.hears("\(Self.item) WriteAcquired=false")
            #expect(socket.isHungUp)
        }
    }
}
