import BlueZ
import DescriptorIO
import FirmwareSim
import Glibc
import PeripheralSim
import SerialPort

/// A simulated device that is offered to other programs.
struct OfferedDevice: Sendable {
    /// The place where a device is offered.
    enum Place: Sendable {
        /// A pseudo-terminal or a TCP port.
        case line(ServingPlace)
        /// BLE, with the adapter's name or address; nil for the first adapter that is on.
        case radio(adapter: String?)
        /// A line and BLE at once, for a BLE module, which has both. The adapter is given as for ``radio(adapter:)``.
        case lineAndRadio(ServingPlace, adapter: String?)
    }

    /// The device's number in control commands, from 1.
    let number: Int
    let simulator: PeripheralSimulator
    let settings: SimulatorSettings
    let place: Place

    var family: String { simulator.line.name }

    /// Offers the device until the task is cancelled.
    ///
    /// - Parameters:
    ///   - onDevice: Receives the device before it is offered.
    ///   - onReady: Called when the device is ready, and again each time it is back after an interruption.
    ///   - onRadio: Called when a device that is also on a line is ready over BLE, and again each time it is back.
    ///   - onAway: Called with the reason if the device on a line does not come back after its cable was pulled.
    func serve(
        _ context: CommandContext, onDevice: @escaping @Sendable (DeviceHandle) -> Void,
        onReady: @escaping @Sendable (ReadyDevice) -> Void, onRadio: @escaping @Sendable (ReadyDevice) -> Void,
        onAway: @escaping @Sendable (Failure) -> Void
    ) async throws {
        switch place {
        case .line(let place):
            try await place.serve(context.output) { tell in
                try await simulator.line.serve(
                    settings, at: place, on: context.loop, onDevice: onDevice, onEvent: tell)
            } onReady: { text, port in
                onReady(ReadyDevice(number: number, family: family, port: port, text: text))
            } onAway: {
                onAway($0)
            }
        case .radio(let adapter):
            try await simulator.serve(settings, onAdapter: adapter, on: context.loop, onDevice: onDevice) { event in
                tell(event, context.output, onReady)
            }
        case .lineAndRadio(let place, let adapter):
            try await place.serve(context.output) { tell in
                try await simulator.serve(
                    settings, at: place, onAdapter: adapter, on: context.loop, onDevice: onDevice,
                    onEvent: { self.tell($0, context.output, onRadio) },
                    onServing: tell)
            } onReady: { text, port in
                onReady(ReadyDevice(number: number, family: family, port: port, text: text))
            } onAway: {
                onAway($0)
            }
        }
    }

    /// Reports an event of a device that is offered over BLE.
    private func tell(_ event: PeripheralEvent, _ output: Output, _ onReady: (ReadyDevice) -> Void) {
        let name = settings.text("name") ?? (try? simulator.peripheral(settings).offered.name) ?? ""
        switch event {
        case .offered(let adapter):
            let address = "\(adapter.address)"
            onReady(
                ReadyDevice(
                    number: number, family: family, port: "ble:\(address)",
                    text: "BLE \(name) on \(adapter.name) (\(address))",
                    radio: ["name": name, "adapter": adapter.name, "address": address]))
        case .interrupted(let error):
            output.note("pumpctl: \(error); \(name) is offered again when the problem is solved")
            let code = error.code.rawValue
            output.record(["ok": false, "event": "interrupted", "name": name, "error": code] as ResultRecord)
        case .connected(let central):
            output.record(["ok": true, "event": "connected", "name": name, "central": "\(central)"] as ResultRecord)
        case .disconnected(let central):
            output.record(["ok": true, "event": "disconnected", "name": name, "central": "\(central)"] as ResultRecord)
        case .subscribed, .unsubscribed: break
        }
    }
}

extension ServingPlace {
    /// Offers a device at this place, and notes on standard error if its cable is pulled or a client is refused.
    ///
    /// - Parameters:
    ///   - offer: Offers the device until the task is cancelled, and passes events to `tell`.
    ///   - onReady: Called with the location as text and as an endpoint, when the device is ready and each time it is
    ///     back.
    ///   - onAway: Called with the reason if the device does not come back after its cable was pulled.
    func serve(
        _ output: Output, _ offer: (_ tell: @escaping @Sendable (ServingEvent) -> Void) async throws -> Void,
        onReady: @escaping @Sendable (_ text: String, _ endpoint: String) -> Void,
        onAway: @escaping @Sendable (Failure) -> Void = { _ in }
    ) async throws {
        do {
            try await offer { event in
                switch event {
                case .onTerminal(let path): onReady("PTY \(path)", ServingPlace.absolute(path))
                case .onSocket(let address): onReady("TCP \(address)", "\(address)")
                case .isBack(let path):
                    output.note("pumpctl: the cable was pulled; the device is back at \(path)")
                    onReady("PTY \(path)", ServingPlace.absolute(path))
                case .staysAway(let error):
                    let failure = Failure(error)
                    output.note(
                        "pumpctl: the cable was pulled, and the device is not back: \(failure.message)",
                        hint: failure.hint)
                    onAway(failure)
                case .refusedClient:
                    output.note(
                        "pumpctl: a second client was disconnected: a line has one client",
                        hint: "add --broadcast to accept several clients, which all receive all replies")
                }
            }
        } catch let error as SerialError {
            throw Failure(error)
        } catch let error as DescriptorError {
            let port = if case .socket(.tcp(_, let port), _) = self { port } else { UInt16(0) }
            throw Failure(
                error.errno == EADDRINUSE ? .unavailable : .ioError, code: "system", "port \(port): \(error)",
                hint: "choose a free port: --tcp 0")
        }
    }
}

extension Failure {
    /// Creates the failure for a pseudo-terminal or its symbolic link that could not be created.
    fileprivate init(_ error: SerialError) {
        self.init(file: error.path, errno: error.errno ?? 0)
        if error.code == .pathTaken { (status, code) = (.unavailable, "path_taken") }
        let detail = error.errno.map { " (\(String(cString: strerror($0))))" } ?? ""
        message = "\(error.activity) \(error.path): \(error.reason)\(detail)"
        hint = error.path == "/dev/ptmx" ? "\(error.hint ?? ""); or use TCP instead: --tcp 0" : error.hint
    }
}
