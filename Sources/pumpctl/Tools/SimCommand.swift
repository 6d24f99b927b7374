import ArgumentParser
import DescriptorIO
import FirmwareSim
import Glibc
import SerialPort

struct SimCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sim",
        abstract: "Offer a simulated device to other programs.",
        discussion: """
            Prints where it is and serves until it is interrupted. What it says while no program has the port open is \
            lost, as on a real line.
            """)

    @ParentCommand var parent: PumpctlCommand
    @OptionGroup var shared: SharedOptions

    @Argument(help: "The device: pump.")
    var device: FamilyName

    @Flag(name: .customLong("pty"), help: "On a pseudo-terminal (the default).")
    var usesPseudoTerminal = false

    @Option(help: ArgumentHelp("A symbolic link to the pseudo-terminal.", valueName: "path"))
    var link: String?

    @Option(help: ArgumentHelp("On a TCP port of this machine; 0 takes a free one.", valueName: "port"))
    var tcp: UInt16?

    @Option(help: "How many thermistors the pump has, 1 or 2.")
    var thermistors = 2

    @Option(help: "What the pump prints when it starts: off, hello or banner.")
    var banner: BannerName = .off

    @Option(help: "The baud rate that output is paced to.")
    var baud = 9600

    @Flag(help: "Do not pace the line to a baud rate.")
    var unpaced = false

    func validate() throws {
        guard (1...2).contains(thermistors) else { throw ValidationError("a pump has 1 or 2 thermistors") }
        guard baud > 0 else { throw ValidationError("a baud rate is 1 or more") }
        if tcp != nil, usesPseudoTerminal || link != nil {
            throw ValidationError("--tcp goes without --pty and --link")
        }
    }

    func run() throws {
        let firmware = PumpFirmwareOptions(
            lineRate: unpaced ? .unlimited : .baud(baud), thermistors: thermistors == 1 ? .one : .two,
            bootBanner: banner.firmware)
        let (link, tcp) = (link, tcp)
        try CommandRunner.run(shared.merged(with: parent.shared)) { context in
            var pump = PumpFirmware(options: firmware)
            if firmware.bootBanner != .off { pump.reset(at: .zero) }
            let host = DeviceHost(pump, pace: .realTime(context.clock), on: context.loop)
            if let tcp {
                try await serve(host, onTCP: tcp, context)
            } else {
                try await serve(host, link: link, context)
            }
        }
    }
}

private func serve(_ host: DeviceHost<PumpFirmware>, link: String?, _ context: CommandContext) async throws {
    let server: PseudoTerminalServer<PumpFirmware>
    do {
        server = try await PseudoTerminalServer.open(host, link: link, on: context.loop)
    } catch {
        throw Failure(error)
    }
    context.output.result("PTY \(server.path)", ReadyRecord(port: server.path))
    try? await host.run()
    await server.close()
}

private func serve(_ host: DeviceHost<PumpFirmware>, onTCP port: UInt16, _ context: CommandContext) async throws {
    let address = SocketAddress.tcp(host: "127.0.0.1", port: port)
    let server: SocketServer<PumpFirmware>
    do {
        server = try await SocketServer.open(host, at: address, on: context.loop)
    } catch {
        throw Failure(
            error.errno == EADDRINUSE ? .unavailable : .ioError, code: "system", "port \(port): \(error)",
            hint: "--tcp 0 takes a port that is free")
    }
    let endpoint = "tcp:127.0.0.1:\(server.port ?? port)"
    context.output.result("TCP \(endpoint)", ReadyRecord(port: endpoint))
    try? await host.run()
    await server.close()
}

extension Failure {
    /// Why a pseudo-terminal could not be offered.
    fileprivate init(_ error: SerialError) {
        let (status, code): (ExitStatus, String) =
            switch (error.code, error.errno) {
            case (.pathTaken, _): (.unavailable, "path_taken")
            case (_, ENOENT), (_, ENOTDIR): (.noInput, "not_found")
            case (_, EACCES), (_, EPERM), (_, EROFS): (.noPermission, "not_permitted")
            default: (.ioError, "system")
            }
        let detail = error.errno.map { " (\(String(cString: strerror($0))))" } ?? ""
        self.init(status, code: code, "\(error.activity) \(error.path): \(error.reason)\(detail)", hint: error.hint)
    }
}

/// Says where the device is.
private struct ReadyRecord: Encodable {
    var ok = true
    var event = "ready"
    var port: String
}

/// What the pump prints when it starts.
enum BannerName: String, ExpressibleByArgument, CaseIterable {
    case off, hello, banner

    var firmware: PumpFirmwareOptions.BootBanner {
        switch self {
        case .off: .off
        case .hello: .hello
        case .banner: .banner
        }
    }
}
