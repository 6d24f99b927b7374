import ArgumentParser
import BlueZ
import FirmwareSim
import Glibc
import PeripheralSim

/// How a simulated device is offered over BLE.
struct RadioOptions: ParsableArguments {
    @Flag(name: .customLong("ble"), help: "Over BLE, as a device that phones find.")
    var isWanted = false

    @Option(help: ArgumentHelp("The Bluetooth adapter, by its name or address.", valueName: "hci1"))
    var adapter: String?

    @Option(help: "What the device is called over BLE.")
    var name: String?

    /// - Parameters:
    ///   - hasLine: Whether the device has a serial line behind its radio.
    ///   - saysName: Whether it says its name over other carriers too.
    /// - Throws: `ValidationError` where the options don't go together.
    func check(beside serving: ServingOptions, hasLine: Bool = false, saysName: Bool = false) throws {
        if isWanted, serving.usesPseudoTerminal || serving.link != nil || serving.tcp != nil {
            throw ValidationError("--ble goes without --pty, --link and --tcp")
        }
        if isWanted, !hasLine, serving.baud != nil {
            throw ValidationError("--ble goes without --baud: there is no line")
        }
        if !isWanted, adapter != nil { throw ValidationError("--adapter goes with --ble") }
        if !isWanted, !saysName, name != nil { throw ValidationError("--name goes with --ble") }
    }

    /// Offers `device` until the task is cancelled, and prints what becomes of it.
    func serve<Device: SimulatedPeripheral>(_ device: Device, _ context: CommandContext) async throws {
        let host = DeviceHost(device, pace: .realTime(context.clock), hasFlowControl: true, on: context.loop)
        let (name, output) = (device.offered.name ?? "", context.output)
        try await serve(host, context) { Self.tell($0, of: name, output) }
    }

    /// Offers the device of `host` until the task is cancelled.
    ///
    /// - Parameter onEvent: Told what becomes of it.
    func serve<Device: SimulatedPeripheral>(
        _ host: DeviceHost<Device>, _ context: CommandContext, onEvent: @escaping @Sendable (PeripheralEvent) -> Void
    ) async throws {
        let bluez: BlueZ
        do { bluez = try await BlueZ.open(on: context.loop) } catch { throw Failure(error) }
        do throws(BLEError) {
            let server = try await PeripheralServer.open(host, over: bluez, on: adapter, onEvent: onEvent)
            try? await host.run()
            await server.close()
            await bluez.close()
        } catch {
            await bluez.close()
            throw Failure(error)
        }
    }

    private static func tell(_ event: PeripheralEvent, of name: String, _ output: Output) {
        switch event {
        case .offered(let adapter):
            output.result(
                "BLE \(name) on \(adapter.name) (\(adapter.address))",
                RadioRecord(
                    ok: true, event: "ready", port: "ble:\(adapter.address)", name: name, adapter: adapter.name,
                    address: "\(adapter.address)", pid: getpid()))
            BackgroundProgram.release()
        case .interrupted(let error):
            output.note("pumpctl: \(error); \(name) is offered again once that is mended")
            output.record(RadioRecord(ok: false, event: "interrupted", name: name, error: error.code.rawValue))
        case .connected(let central):
            output.record(RadioRecord(ok: true, event: "connected", name: name, central: "\(central)"))
        case .disconnected(let central):
            output.record(RadioRecord(ok: true, event: "disconnected", name: name, central: "\(central)"))
        case .subscribed, .unsubscribed: break
        }
    }
}

/// What has become of a device that is offered over BLE.
private struct RadioRecord: Encodable {
    var ok: Bool
    var event: String
    /// Where a central on another adapter finds it.
    var port: String?
    var name: String
    var adapter: String?
    var address: String?
    var central: String?
    var error: String?
    var pid: Int32?
}
