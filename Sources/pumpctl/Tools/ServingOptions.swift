import ArgumentParser
import DescriptorIO
import FirmwareSim
import Glibc
import SerialPort

/// Where a simulated device is offered, and how fast its line is.
struct ServingOptions: ParsableArguments {
    static let discussion = """
        Prints where the device is and serves until it is interrupted. What it says while no program has the port open is \
        lost, as on a real line.
        """

    @Flag(name: .customLong("pty"), help: "On a pseudo-terminal (the default).")
    var usesPseudoTerminal = false

    @Option(help: ArgumentHelp("A symbolic link to the pseudo-terminal.", valueName: "path"))
    var link: String?

    @Option(help: ArgumentHelp("On a TCP port of this machine; 0 takes a free one.", valueName: "port"))
    var tcp: UInt16?

    @Option(help: "The baud rate that output is paced to.")
    var baud: Int?

    @Flag(help: "Do not pace the line to a baud rate: it is as fast as its reader.")
    var unpaced = false

    func validate() throws {
        if let baud, baud < 1 { throw ValidationError("a baud rate is 1 or more") }
        if tcp != nil, usesPseudoTerminal || link != nil {
            throw ValidationError("--tcp goes without --pty and --link")
        }
    }

    /// How fast the line of a device of `family` is.
    func lineRate(_ family: FamilyName) -> LineRate {
        unpaced ? .unlimited : .baud(baud ?? family.facts.baudRate)
    }

    /// Offers `device` until the task is cancelled.
    ///
    /// - Parameter waits: Whether it waits for a slow reader also where its line is paced.
    func serve(_ device: some SimulatedDevice, waits: Bool = false, _ context: CommandContext) async throws {
        let host = DeviceHost(
            device, pace: .realTime(context.clock), hasFlowControl: unpaced || waits, on: context.loop)
        if let tcp {
            try await serve(host, onTCP: tcp, context)
        } else {
            try await serveOnTerminal(host, context)
        }
    }

    private func serveOnTerminal<Device>(_ host: DeviceHost<Device>, _ context: CommandContext) async throws {
        let server: PseudoTerminalServer<Device>
        do {
            server = try await PseudoTerminalServer.open(host, link: link, on: context.loop)
        } catch {
            throw Failure(error)
        }
        context.output.result("PTY \(server.path)", ReadyRecord(port: server.path))
        try? await host.run()
        await server.close()
    }

    private func serve<Device>(_ host: DeviceHost<Device>, onTCP port: UInt16, _ context: CommandContext) async throws {
        let address = SocketAddress.tcp(host: "127.0.0.1", port: port)
        let server: SocketServer<Device>
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
