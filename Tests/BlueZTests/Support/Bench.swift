@testable import BlueZ
import DBus
import DeviceTestKit
import FakeBlueZ
import TestSupport

/// A bus with a fake bluetoothd, an adapter, and the library under test as a client.
struct Bench {
    let bus: PrivateBus
    let fake: FakeBlueZ
    let clock: ManualClock
    let adapter: FakeAdapter
    let bluez: BlueZ

    init() async throws {
        bus = try await PrivateBus()
        clock = ManualClock()
        fake = try await FakeBlueZ.start(on: bus.address, clock: clock)
        adapter = await fake.addAdapter()
        bluez = try await BlueZ.open(.address(bus.address), clock: clock)
    }

    /// Opens the client of another program on the same bus.
    func otherClient() async throws -> BlueZ { try await BlueZ.open(.address(bus.address), clock: clock) }

    /// Adds an advertising device with one characteristic: FFE1 of the service FFE0, like an HM-10 module.
    func addModule(
        _ flags: [RadioCharacteristic.Flag] = [.read, .writeWithoutResponse, .notify], name: String = "HMSoft",
        manners: LinkManners = LinkManners()
    ) async -> RadioDevice {
        await fake.addModule(flags, name: name, manners: manners)
    }

    /// The number of calls of a method by clients.
    func calls(of member: String) async -> Int { await fake.calls.state.count { $0.member == member } }

    /// Waits until all clients together have called a method at least `times` times.
    func untilCalled(_ member: String, times: Int = 1) async throws {
        _ = try await fake.calls.wait(for: "\(times) calls of \(member)") { calls in
            calls.count { $0.member == member } >= times ? true : nil
        }
    }

    /// Waits until the client knows that bluetoothd is gone.
    func untilGone() async throws {
        try await bluez.waitUntil(isRunning: false)
    }

    /// Waits until the client knows the objects of a new bluetoothd.
    func untilBack() async throws {
        try await bluez.waitUntil(isRunning: true)
    }

    /// Waits until the client knows that the module is connected, or not connected if `isConnected` is false.
    func untilConnected(_ isConnected: Bool = true) async throws {
        try await bluez.waitUntil(isConnected: isConnected)
    }

    /// Waits until bluetoothd and the client have handled everything so far.
    func settle() async throws {
        // bluetoothd's earlier signals arrive before the first reply. The second reply comes after bluetoothd has
        // handled the calls that the client makes because of these signals.
        for _ in 0..<2 {
            try await bluez.bus.call(DBusCall(to: "org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping"))
        }
    }
}

/// The module's address.
let module = BluetoothAddress("00:15:83:00:00:10")!

extension FakeBlueZ {
    func addModule(_ flags: [RadioCharacteristic.Flag], name: String, manners: LinkManners) -> RadioDevice {
        let radio = RadioDevice("\(module)", Advertisement(name: name, services: ["FFE0"]))
        radio.services = [RadioService("FFE0", [RadioCharacteristic("FFE1", flags)])]
        radio.manners = manners
        add(radio)
        return radio
    }
}

/// Calls `body` with a bench, and closes the bench afterwards.
func withBench(_ body: (Bench) async throws -> Void) async throws {
    let bench = try await Bench()
    let result: Result<Void, any Error>
    do { result = .success(try await body(bench)) } catch { result = .failure(error) }
    await bench.bluez.close()
    await bench.fake.stop()
    try result.get()
}

extension LinkManners {
    init(_ change: (inout LinkManners) -> Void) {
        self.init()
        change(&self)
    }
}

extension BLESequence {
    /// Waits for the next element; nil at the end of the sequence.
    func next() async throws -> Element? {
        var iterator = makeAsyncIterator()
        return try await iterator.next()
    }
}

/// Returns the error that `body` throws; nil if it throws none.
func failure<Value>(_ body: () async throws(BLEError) -> Value) async throws -> BLEError? {
    do throws(BLEError) { _ = try await body() } catch { return error }
    return nil
}

extension ScanEvent {
    /// The event as a word and a name or an address.
    var text: String {
        switch self {
        case .found(let report): "found \(report.name ?? "\(report.address)")"
        case .changed(let report): "changed \(report.name ?? "\(report.address)")"
        case .lost(let address): "lost \(address)"
        }
    }
}

extension BlueZ {
    // The limits of 600 s count on the bench's clock, which stands still meanwhile.

    fileprivate func waitUntil(isConnected: Bool) async throws {
        let place = try adapter().address
        try await wait(.seconds(600), activity: "waiting for the module") { () -> Result<Void, BLEError>? in
            self.report(of: module, on: place)?.isConnected == isConnected ? .success(()) : nil
        }
    }

    fileprivate func waitUntil(isRunning: Bool) async throws {
        try await wait(.seconds(600), activity: "waiting for bluetoothd") { [keeper] () -> Result<Void, BLEError>? in
            keeper.isComplete == isRunning ? .success(()) : nil
        }
    }
}
