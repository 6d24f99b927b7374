import ArgumentParser
import DescriptorIO
import DeviceKit
import FirmwareSim
import Glibc
import SerialPort

/// Where a simulated device is offered, and how fast its line is.
struct ServingOptions: ParsableArguments {
    static let discussion = """
        Prints where the device is and serves until it is interrupted; with --background in a process of its own, whose number \
        is printed once the device is there: kill it to end. What it says while no program has the port open is \
        lost, as on a real line.
        """

    @Flag(name: .customLong("pty"), help: "On a pseudo-terminal (the default).")
    var usesPseudoTerminal = false

    @Option(help: ArgumentHelp("A symbolic link to the pseudo-terminal.", valueName: "path"))
    var link: String?

    @Option(
        help: ArgumentHelp(
            "On a TCP port of this machine; 0 takes a free one. One client at a time: others are hung up on.",
            valueName: "port"))
    var tcp: UInt16?

    @Flag(name: .customLong("broadcast"), help: "With --tcp: any number of clients, and all hear all replies.")
    var broadcasts = false

    @Option(help: "The baud rate that output is paced to.")
    var baud: Int?

    @Flag(help: "Do not pace the line to a baud rate: it is as fast as its reader.")
    var unpaced = false

    @Flag(
        name: .customLong("background"),
        help: "Return once the device is there, and print the number of the process that serves it.")
    var isInBackground = false

    func validate() throws {
        if let baud, baud < 1 { throw ValidationError("--baud is 1 or more") }
        if tcp != nil, usesPseudoTerminal || link != nil {
            throw ValidationError("--tcp goes without --pty and --link")
        }
        if broadcasts, tcp == nil { throw ValidationError("--broadcast goes with --tcp") }
    }

    /// How fast the line of a device of `family` is.
    func lineRate(_ family: Family) -> LineRate {
        unpaced ? .unlimited : .baud(baud ?? family.baudRate)
    }

    /// Offers `device` until the task is cancelled, and prints where.
    ///
    /// - Parameter waits: Whether it waits for a slow reader also where its line is paced.
    func serve(_ device: some SimulatedDevice, waits: Bool = false, _ context: CommandContext) async throws {
        let host = DeviceHost(
            device, pace: .realTime(context.clock), hasFlowControl: unpaced || waits, on: context.loop)
        try await serve(host, context) { text, port in context.output.result(text, ReadyRecord(port: port)) }
    }

    /// Offers the device of `host` until the task is cancelled.
    ///
    /// - Parameter onReady: Told where it is, for people and as an endpoint.
    func serve<Device>(
        _ host: DeviceHost<Device>, _ context: CommandContext,
        onReady: @Sendable (_ text: String, _ endpoint: String) -> Void
    ) async throws {
        if let tcp {
            try await serve(host, onTCP: tcp, context, onReady)
        } else {
            try await serveOnTerminal(host, context, onReady)
        }
    }

    private func serveOnTerminal<Device>(
        _ host: DeviceHost<Device>, _ context: CommandContext, _ onReady: (String, String) -> Void
    ) async throws {
        let server: PseudoTerminalServer<Device>
        do {
            server = try await PseudoTerminalServer.open(host, link: link, on: context.loop)
        } catch {
            throw Failure(error)
        }
        // With its path, as an endpoint is written.
        let path = server.path.contains("/") ? server.path : "./\(server.path)"
        onReady("PTY \(path)", path)
        BackgroundProgram.release()
        try? await host.run()
        await server.close()
    }

    private func serve<Device>(
        _ host: DeviceHost<Device>, onTCP port: UInt16, _ context: CommandContext, _ onReady: (String, String) -> Void
    ) async throws {
        let address = SocketAddress.tcp(host: "127.0.0.1", port: port)
        let server: SocketServer<Device>
        do {
            server = try await SocketServer.open(host, at: address, broadcasts: broadcasts, on: context.loop) {
                context.output.note(
                    "pumpctl: a second client was hung up on: the line has one",
                    hint: "serve with --broadcast to let several clients hear all replies")
            }
        } catch {
            throw Failure(
                error.errno == EADDRINUSE ? .unavailable : .ioError, code: "system", "port \(port): \(error)",
                hint: "choose a free port: --tcp 0")
        }
        let endpoint = "tcp:127.0.0.1:\(server.port ?? port)"
        onReady("TCP \(endpoint)", endpoint)
        BackgroundProgram.release()
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
    var pid = getpid()
}
