import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Glibc
import TestSupport
import Testing

@Suite("Returning clients", .timeLimit(.minutes(5)))
struct ClientLineTests {
    /// More than the kernel buffers for a socket.
    private static let flood = 900_000

    @Test("When a client leaves, the output that waits for it in the host is dropped")
    func comesBack() async throws {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        let client = HostClient(ends[1])
        let host = DeviceHost(Talker(), pace: .onDemand)
        let line = await host.attach(DescriptorChannel(taking: ends[0], kind: .socket))
        // Output to a client that does not read waits in its writer, which is cancelled when the client leaves.
        await host.change { talker, _ in talker.say("a", times: Self.flood) }
        await settle()
        await host.comeBack(line) { talker in talker.say("b", times: Self.flood) }
        await settle()
        await host.change { talker, _ in talker.say("c", times: 1000) }
        await settle()
        await host.comeBack(line) { talker in talker.say("d", times: 1) }
        let heard = try await client.hear(until: "d")
        #expect(Set(heard.dropLast()) == ["a"])
    }
}

/// A device that sends whatever a test gives it.
private struct Talker: SimulatedDevice {
    private var pending: [UInt8] = []

    mutating func say(_ letter: Character, times count: Int) {
        pending += [UInt8](repeating: letter.asciiValue ?? 0, count: count)
    }

    mutating func receive(_ bytes: [UInt8], at instant: Duration) {}

    mutating func advance(to instant: Duration) -> [Emission] {
        defer { pending = [] }
        return pending.isEmpty ? [] : [Emission(bytes: pending, time: instant)]
    }

    var nextActivity: Duration? { pending.isEmpty ? nil : .zero }
    var isQuiescent: Bool { pending.isEmpty }
    mutating func reset(at instant: Duration) { pending = [] }
}

extension DeviceHost where Device == Talker {
    /// Makes the client leave and come back, and changes the device. The host does nothing else in between.
    fileprivate func comeBack(_ line: LineID, then body: @Sendable (inout Talker) -> Void) {
        setListening(false, line)
        setListening(true, line)
        change { talker, _ in body(&talker) }
    }
}
