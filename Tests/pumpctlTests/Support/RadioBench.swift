import FakeBlueZ
import TestSupport

/// A fake bluetoothd with two adapters in reach of each other, for programs at both ends.
struct RadioBench {
    /// The addresses of the adapters hci0 and hci1, and of devices that programs offer on them.
    static let first = "00:00:5E:00:53:01"
    static let second = "00:00:5E:00:53:02"

    let bus: PrivateBus
    let fake: FakeBlueZ
    let adapters: [FakeAdapter]

    /// - Parameter mtu: The MTU of connections to either adapter.
    init(mtu: Int = 517) async throws {
        bus = try await PrivateBus()
        fake = try await FakeBlueZ.start(on: bus.address)
        adapters = [await fake.addAdapter(), await fake.addAdapter("hci1", address: Self.second)]
        for adapter in adapters { await adapter.setMTU(mtu) }
    }

    /// Starts `pumpctl` on this radio.
    ///
    /// - Parameter folder: The folder for the message store (XDG_DATA_HOME); nil for none.
    func start(_ arguments: [String], in folder: TemporaryFolder? = nil) async throws -> ChildProcess {
        var environment = bus.environment
        environment["XDG_DATA_HOME"] = folder?.path
        return try await Pumpctl.start(arguments, environment: environment)
    }

    func run(_ arguments: String..., in folder: TemporaryFolder? = nil) async throws -> ChildProcess.Ending {
        try await start(arguments, in: folder).ending()
    }

    /// Creates a central on hci0 that is connected to the device on hci1.
    func central() async throws -> TestCentral {
        let central = try await TestCentral(on: bus.address, for: Self.second)
        _ = try await central.find()
        try await central.connect()
        return central
    }
}

/// Calls `body` with a bench, and closes the bench afterwards.
func withRadioBench(mtu: Int = 517, _ body: (RadioBench) async throws -> Void) async throws {
    let bench = try await RadioBench(mtu: mtu)
    do {
        try await body(bench)
    } catch {
        await bench.fake.stop()
        throw error
    }
    await bench.fake.stop()
}

extension FakeAdapter {
    fileprivate func setMTU(_ mtu: Int) { ownRadio.manners.mtu = mtu }
}
