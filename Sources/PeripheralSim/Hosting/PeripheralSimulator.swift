public import BlueZ
public import DescriptorIO
public import FirmwareSim

/// A simulated device that can be offered over BLE too: what it is on a line, and how to make it with a radio.
///
/// ```swift
/// let settings = try PeripheralSimulator.pump.settings(["name": "Bench"])
/// try await PeripheralSimulator.pump.serve(settings) { print($0) }
/// ```
public struct PeripheralSimulator: Sendable {
    /// The device on a line, with its name and its options over either carrier.
    public let line: Simulator

    private let make: @Sendable (SimulatorSettings) throws -> any SimulatedPeripheral

    /// - Parameter make: Makes the device with its radio. It may throw where an option names what is not there, as a file.
    public init(_ line: Simulator, make: @escaping @Sendable (SimulatorSettings) throws -> any SimulatedPeripheral) {
        self.line = line
        self.make = make
    }

    /// Checks options, for a device that is offered over BLE.
    public func settings(_ given: [String: String] = [:]) throws(SimulatorOptionError) -> SimulatorSettings {
        try line.settings(given, over: .radio)
    }

    /// Makes a device with its radio.
    ///
    /// - Throws: What making it throws, as where a file can't be read.
    public func peripheral(_ settings: SimulatorSettings) throws -> any SimulatedPeripheral { try make(settings) }

    /// Makes a device, and offers it in real time until the task is cancelled.
    ///
    /// - Parameters:
    ///   - adapter: The name or address of a Bluetooth adapter; nil for the first that is on.
    ///   - onDevice: Told of the device before it is offered, to do something to it while it runs.
    ///   - onEvent: Told what becomes of it.
    /// - Throws: As ``peripheral(_:)`` and ``DeviceHost/serve(onAdapter:onEvent:)``.
    public func serve(
        _ settings: SimulatorSettings, onAdapter adapter: String? = nil, on loop: EventLoop = .shared,
        onDevice: (@Sendable (DeviceHandle) -> Void)? = nil, onEvent: @escaping @Sendable (PeripheralEvent) -> Void
    ) async throws {
        try await serve(peripheral(settings), settings, onAdapter: adapter, on: loop, onDevice, onEvent)
    }

    private func serve(
        _ device: some SimulatedPeripheral, _ settings: SimulatorSettings, onAdapter adapter: String?,
        on loop: EventLoop,
        _ onDevice: (@Sendable (DeviceHandle) -> Void)?, _ onEvent: @escaping @Sendable (PeripheralEvent) -> Void
    ) async throws {
        // The radio is as fast as it is, and nothing gets lost on the way to it.
        try settings.checkWithoutTerminal()
        let host = DeviceHost(
            try FaultyDevice(device, settings, isOnTerminal: false), pace: .realTime(EventLoopClock(loop)),
            judge: HostJudge(settings, of: device), hasFlowControl: true, on: loop)
        onDevice?(host.handle)
        try await host.serve(onAdapter: adapter, onEvent: onEvent)
    }
}

extension PeripheralSimulator {
    /// Makes a device, and offers it in real time over BLE and on a line at once, until the task is cancelled: as a module
    /// has a radio and a UART.
    ///
    /// - Parameters:
    ///   - place: Where its line is.
    ///   - adapter: The name or address of a Bluetooth adapter; nil for the first that is on.
    ///   - onDevice: Told of the device before it is offered, to do something to it while it runs.
    ///   - onEvent: Told what becomes of it over BLE, where it is offered first.
    ///   - onServing: Told where its line is, and what becomes of it.
    /// - Throws: As ``serve(_:onAdapter:on:onDevice:onEvent:)`` and ``DeviceHost/serve(at:onEvent:)``.
    public func serve(
        _ settings: SimulatorSettings, at place: ServingPlace, onAdapter adapter: String? = nil,
        on loop: EventLoop = .shared, onDevice: (@Sendable (DeviceHandle) -> Void)? = nil,
        onEvent: @escaping @Sendable (PeripheralEvent) -> Void, onServing: @escaping @Sendable (ServingEvent) -> Void
    ) async throws {
        try await serve(peripheral(settings), settings, at: place, adapter, loop, onDevice, onEvent, onServing)
    }

    private func serve(
        _ device: some SimulatedPeripheral, _ settings: SimulatorSettings, at place: ServingPlace, _ adapter: String?,
        _ loop: EventLoop, _ onDevice: (@Sendable (DeviceHandle) -> Void)?,
        _ onEvent: @escaping @Sendable (PeripheralEvent) -> Void,
        _ onServing: @escaping @Sendable (ServingEvent) -> Void
    ) async throws {
        // What the line's reader is too slow for is lost, as on any line.
        let host = DeviceHost(
            try FaultyDevice(device, settings, isOnTerminal: place.isTerminal), pace: .realTime(EventLoopClock(loop)),
            judge: HostJudge(settings, of: device), on: loop)
        onDevice?(host.handle)
        let bluez = try await BlueZ.open(on: loop)
        do {
            let server = try await PeripheralServer.open(host, over: bluez, on: adapter, onEvent: onEvent)
            let result: Result<Void, any Error>
            do { result = .success(try await host.serve(at: place, onEvent: onServing)) } catch {
                result = .failure(error)
            }
            await server.close()
            try result.get()
        } catch {
            await bluez.close()
            throw error
        }
        await bluez.close()
    }
}

extension DeviceHost where Device: SimulatedPeripheral {
    /// Offers the device over BLE until the task is cancelled.
    ///
    /// - Parameters:
    ///   - adapter: The name or address of a Bluetooth adapter; nil for the first that is on.
    ///   - onEvent: Called on the loop's thread with what becomes of it.
    /// - Throws: As ``BlueZ/open(_:on:clock:)`` and ``PeripheralServer/open(_:over:on:onEvent:)``.
    public nonisolated func serve(
        onAdapter adapter: String? = nil, onEvent: @escaping @Sendable (PeripheralEvent) -> Void
    ) async throws(BLEError) {
        let bluez = try await BlueZ.open(on: loop)
        do throws(BLEError) {
            let server = try await PeripheralServer.open(self, over: bluez, on: adapter, onEvent: onEvent)
            try? await run()
            await server.close()
            await bluez.close()
        } catch {
            await bluez.close()
            throw error
        }
    }
}
