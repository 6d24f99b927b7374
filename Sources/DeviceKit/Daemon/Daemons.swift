public import DescriptorIO

/// What this user sees of the daemons, pumpctld, that have devices and share them.
public struct Daemons: Sendable {
    /// Their devices. Of two of one name only that is there which `shared:NAME` leads to.
    public var devices: [DaemonDevice]
    /// What a person does who may not use a daemon that may be there; nil where there is none.
    public var permissionHint: String?

    /// What is seen of them, in all its parts.
    public init(devices: [DaemonDevice] = [], permissionHint: String? = nil) {
        self.devices = devices
        self.permissionHint = permissionHint
    }

    /// Asks the daemons that there are.
    public static func now(on loop: EventLoop = .shared) async -> Daemons {
        await now(at: DaemonSocket.present, on: loop)
    }

    static func now(at sockets: [DaemonSocket], on loop: EventLoop) async -> Daemons {
        var daemons = Daemons()
        for socket in sockets {
            do throws(DaemonError) {
                let names = Set(daemons.devices.map(\.name))
                daemons.devices += try await devices(at: socket, on: loop).filter { !names.contains($0.name) }
            } catch {
                if error.code == .notPermitted { daemons.permissionHint = socket.permissionHint }
            }
        }
        return daemons
    }

    /// The advice on a daemon that has a device and was not found: it must not be killed, as others use it too.
    package static func hint(onUnknownSocketOf daemon: HoldingProcess) -> String {
        daemon.isStopped
            ? daemon.resumingHint
            : "use a share of that pumpctld, or name its socket: \(DaemonSocket.variable)=PATH before the command"
    }

    /// The devices of one name, of which each daemon may have one.
    ///
    /// - Parameter sockets: Where daemons may listen.
    /// - Returns: Each with the socket of its daemon.
    static func devices(
        named name: String, at sockets: [DaemonSocket], on loop: EventLoop
    ) async -> [(device: DaemonDevice, socket: DaemonSocket)] {
        var found: [(DaemonDevice, DaemonSocket)] = []
        for socket in sockets {
            let devices = ((try? await devices(at: socket, on: loop)) ?? []).filter { $0.name == name }
            found += devices.map { ($0, socket) }
        }
        return found
    }

    private static func devices(
        at socket: DaemonSocket, on loop: EventLoop
    ) async throws(DaemonError) -> [DaemonDevice] {
        let (connection, response, _) = try await DaemonConnection.ask(
            socket, "\"do\":\"devices\"", within: DaemonAttachment.patience, on: loop)
        await connection.channel.close()
        return response.members("devices").compactMap(DaemonDevice.init)
    }

    /// The device of that identity, which a daemon has; nil where none has it.
    public func device(of deviceID: String?) -> DaemonDevice? {
        deviceID.flatMap { id in devices.first { $0.deviceID == id } }
    }
}
