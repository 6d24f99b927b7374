import DescriptorIO
import FirmwareSim
import SerialPort
import TestSupport

/// A simulated pump in this process, on a pseudo-terminal. Its time advances on demand: see
/// `DeviceHost.Pace.onDemand`.
struct BenchPump {
    let host: DeviceHost<PumpFirmware>
    private let server: PseudoTerminalServer<PumpFirmware>

    var port: String { server.path }

    /// - Parameters:
    ///   - potentiometer: The knob's position. 716 stands for the speed at which ON starts, 70 %.
    ///   - link: A symbolic link to the terminal.
    ///   - isOn: Whether the pump runs before any program can reach it.
    init(
        thermistors: PumpFirmwareOptions.Thermistors = .two, potentiometer: Int = 716, link: String? = nil,
        isOn: Bool = false
    ) async throws {
        let options = PumpFirmwareOptions(
            thermistors: thermistors, heat: .fixed(water: 12, skin: 34.5), potentiometer: potentiometer)
        host = DeviceHost(PumpFirmware(options: options), pace: .onDemand)
        if isOn {
            await host.change { pump, now in pump.receive(Array("ON\n".utf8), at: now) }
            await host.advance(by: .seconds(1))
        }
        server = try await PseudoTerminalServer.open(host, link: link)
        // Readings of exactly these values, which the resolution of the analog-to-digital converter would not give.
        await host.change { pump, _ in
            pump.setWaterThermistor(.reading(12))
            pump.setSkinThermistor(.reading(34.5))
        }
    }

    /// The pump's PWM duty, 0 to 255; nil while the pump is off.
    func duty() async -> Int? { await host.change { pump, _ in pump.isEnabled ? Int(pump.duty) : nil } }

    func state() async -> PumpState { await host.change { pump, _ in pump.state } }

    /// Triggers the safety stop of a running pump: warms the skin to 41 °C for a second.
    func overheat() async {
        await host.change { pump, _ in pump.setSkinThermistor(.reading(41)) }
        await host.advance(by: .seconds(1))
        await host.change { pump, _ in pump.setSkinThermistor(.reading(34.5)) }
    }

    func close() async { await server.close() }
}

/// A device on a pseudo-terminal in this process, which sends the texts that a test gives it.
struct ScriptedDevice {
    let terminal: PseudoTerminal
    private let channel: DescriptorChannel
    /// The input that the device has received and no test has taken.
    let heard = Watched(ReceivedText())

    var port: String { terminal.path }

    /// Creates a device that replies to each line with the result of `answer`; nil unplugs it.
    init(_ answer: @escaping @Sendable (String) -> String? = { _ in "" }) async throws {
        terminal = try PseudoTerminal()
        channel = terminal.channel()
        let received = Watched(ReceivedText())
        let (lines, arrivals) = AsyncStream.makeStream(of: String.self)
        await channel.forward { [heard] arrival in
            guard case .success(let bytes?) = arrival else { return arrivals.finish() }
            heard.update { $0.bytes += bytes }
            received.update { received in
                received.bytes += bytes
                while let line = received.takeLine() { arrivals.yield(line) }
            }
        }
        // One task for all lines, so that the replies keep their order.
        Task { [channel] in
            for await line in lines {
                guard let text = answer(line) else { return await channel.close() }
                try? await channel.write(Array(text.utf8))
            }
        }
    }

    /// Sends unsolicited text.
    func say(_ text: String) async throws { try await say(Array(text.utf8)) }

    /// Sends any bytes.
    func say(_ bytes: [UInt8]) async throws { try await channel.write(bytes) }

    func close() async { await channel.close() }
}
