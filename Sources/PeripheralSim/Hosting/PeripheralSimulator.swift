public import BlueZ
public import DescriptorIO
public import FirmwareSim

/// A simulated device that can also be offered over BLE: its form on a line, and a closure that makes the device with a
/// radio.
///
/// ```swift
/// let settings = try PeripheralSimulator.pump.settings(["name": "Bench"])
/// try await PeripheralSimulator.pump.serve(settings) { print($0) }
/// ```
public struct PeripheralSimulator: Sendable {
    /// The device on a line, with its name, and its options for either carrier.
    public let line: Simulator

    private let make: @Sendable (SimulatorSettings) throws -> any SimulatedPeripheral

    /// Creates a simulator.
    ///
    /// - Parameters:
    ///   - line: The device on a line.
    ///   - make: Makes the device with its radio. May throw an error, for example if an option names a file that does
    ///     not exist.
    public init(_ line: Simulator, make: @escaping @Sendable (SimulatorSettings) throws -> any SimulatedPeripheral) {
        self.line = line
        self.make = make
    }

    /// Checks the values of options for a device that is offered over BLE.
    ///
    /// - Parameter given: The values as typed, by the names of their options.
    /// - Throws: `SimulatorOptionError` for the first invalid option, in alphabetical order.
    public func settings(_ given: [String: String] = [:]) throws(SimulatorOptionError) -> SimulatorSettings {
        try line.settings(given, over: .radio)
    }

    /// Makes a device with its radio.
    ///
    /// - Throws: The error of the closure that makes the device, for example if a file can't be read.
    public func peripheral(_ settings: SimulatorSettings) throws -> any SimulatedPeripheral { try make(settings) }

    /// Makes a device, and offers it in real time until the task is cancelled. The cancellation is not an error.
    ///
    /// - Parameters:
    ///   - settings: The values of the options.
    ///   - adapter: The name or address of a Bluetooth adapter; nil for the first one that is on.
    ///   - loop: The event loop on which the device runs.
    ///   - onDevice: Called with a handle that controls the device, before the device is offered.
    ///   - onEvent: Called for each event, on the loop's thread.
    /// - Throws: The errors of ``peripheral(_:)`` and `DeviceHost.serve(onAdapter:onEvent:)`, and
    ///   `SimulatorOptionError` if the device can't perform a step, or if the settings need a pseudo-terminal.
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
        try settings.checkWithoutTerminal()
        // With flow control, the device waits for the radio, and loses nothing on the way to it.
        let host = DeviceHost(
            try FaultyDevice(device, settings, isOnTerminal: false), pace: .realTime(EventLoopClock(loop)),
            judge: HostJudge(settings, of: device), hasFlowControl: true, on: loop)
        onDevice?(host.handle)
        try await host.serve(onAdapter: adapter, onEvent: onEvent)
    }
}

extension PeripheralSimulator {
    /// Makes a device, and offers it in real time both over BLE and on a line, until the task is cancelled, like a
    /// module with a radio and a UART.
    ///
    /// - Parameters:
    ///   - settings: The values of the options.
    ///   - place: The place of the device's line.
    ///   - adapter: The name or address of a Bluetooth adapter; nil for the first one that is on.
    ///   - loop: The event loop on which the device runs.
    ///   - onDevice: Called with a handle that controls the device, before the device is offered.
    ///   - onEvent: Called for each event over BLE, on the loop's thread. The device is offered over BLE first, then on
    ///     the line.
    ///   - onServing: Called with the address of the line, and with later events of the line, on any thread.
    /// - Throws: The errors of ``peripheral(_:)``, `DeviceHost.serve(onAdapter:onEvent:)` and
    ///   `DeviceHost.serve(at:onEvent:)`, and `SimulatorOptionError` if the device can't perform a step, or if the
    ///   settings need a pseudo-terminal and `place` is not one.
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
        if !place.isTerminal { try settings.checkWithoutTerminal() }
        // Without flow control, output for a slow reader of the line is lost, as on any line.
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
    /// Offers the device over BLE until the task is cancelled. The cancellation is not an error.
    ///
    /// - Parameters:
    ///   - adapter: The name or address of a Bluetooth adapter; nil for the first one that is on.
    ///   - onEvent: Called for each event, on the loop's thread.
    /// - Throws: The errors of `BlueZ.open(_:on:clock:)` and ``PeripheralServer/open(_:over:on:onEvent:)``.
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
