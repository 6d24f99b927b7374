import DBus
import DescriptorIO
import TestSupport

/// Two connections to a private bus, each on its own loop. The clock measures the time-outs of the near one.
struct Peers {
    let bus: PrivateBus
    let near: DBusConnection
    let far: DBusConnection
    private let loops: [EventLoop]

    init(clock: (any Clock<Duration>)? = nil) async throws {
        bus = try await PrivateBus()
        loops = [EventLoop(), EventLoop()]
        for loop in loops { loop.start() }
        near = try await DBusConnection.open(.address(bus.address), on: loops[0], clock: clock)
        far = try await DBusConnection.open(.address(bus.address), on: loops[1])
    }

    /// Closes both connections and stops their loops.
    func close() async {
        await near.close()
        await far.close()
        for loop in loops { loop.stop() }
    }

    /// Waits until the bus has handled all messages of both peers, and both have received the resulting messages.
    func settle() async throws {
        for peer in [far, near, far, near] { try await peer.call(toBus("GetId")) }
    }
}

/// A call to the bus itself.
func toBus(_ member: String, _ arguments: [DBusValue] = []) -> DBusCall {
    DBusCall(to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments)
}

let testInterface = "org.example.Test"
let testPath: ObjectPath = "/org/example/test"

/// A call to the test object of a peer: see ``DBusObject/test(_:properties:signals:)``.
func toTest(_ peer: DBusConnection, _ member: String, _ arguments: [DBusValue] = []) async -> DBusCall {
    DBusCall(to: await peer.uniqueName, testPath, testInterface, member, arguments)
}

extension DBusObject {
    /// Creates the test object with these methods.
    static func test(
        _ methods: [DBusMethod], properties: [DBusProperty] = [], signals: [DBusSignalDescription] = []
    ) -> DBusObject {
        DBusObject(
            testPath, [DBusInterface(testInterface, methods: methods, properties: properties, signals: signals)])
    }
}

/// Calls `body` with two peers, and closes them afterwards.
func withPeers(clock: (any Clock<Duration>)? = nil, _ body: (Peers) async throws -> Void) async throws {
    let peers = try await Peers(clock: clock)
    do {
        try await body(peers)
    } catch {
        await peers.close()
        throw error
    }
    await peers.close()
}

/// Events in order, from any thread.
typealias Log = Watched<[String]>

extension Watched<[String]> {
    func append(_ word: String) { update { $0.append(word) } }

    /// Waits until there are at least `count` entries; returns all entries.
    func first(_ count: Int) async throws -> [String] {
        try await wait(for: "\(count) entries") { $0.count >= count ? $0 : nil }
    }
}
