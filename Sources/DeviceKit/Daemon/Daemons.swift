public import DescriptorIO
internal import StrictJSON

/// The daemons, pumpctld, that share devices with this user.
public struct Daemons: Sendable {
    /// The daemons' devices. If several daemons have a device of the same name, only the first is listed.
    public var devices: [DaemonDevice]
    /// Advice for a user without permission to use a daemon's socket; nil if this user may use all sockets that were
    /// found.
    public var permissionHint: String?
    /// The group to join if ``permissionHint`` advises to join one; nil otherwise.
    public var joinableGroup: String?
    /// The versions of the daemons' programs, as far as the daemons report them.
    public var programVersions: Set<String> = []

    /// Creates a list from its parts.
    public init(devices: [DaemonDevice] = [], permissionHint: String? = nil, joinableGroup: String? = nil) {
        self.devices = devices
        self.permissionHint = permissionHint
        self.joinableGroup = joinableGroup
    }

    /// Asks all daemons that this user can find for their devices. A daemon that does not answer is left out.
    ///
    /// - Parameter loop: The event loop for the connections.
    public static func now(on loop: EventLoop = .shared) async -> Daemons {
        await now(at: DaemonSocket.present, on: loop)
    }

    static func now(at sockets: [DaemonSocket], on loop: EventLoop) async -> Daemons {
        var daemons = Daemons()
        for socket in sockets {
            do throws(DaemonError) {
                let names = Set(daemons.devices.map(\.name))
                let (devices, version) = try await answer(of: socket, on: loop)
                daemons.devices += devices.filter { !names.contains($0.name) }
                if let version { daemons.programVersions.insert(version) }
            } catch {
                guard error.code == .notPermitted else { continue }
                (daemons.permissionHint, daemons.joinableGroup) = (socket.permissionHint, socket.joinableGroup)
            }
        }
        return daemons
    }

    /// Returns the advice for a device whose owner is a daemon at an unknown socket. The advice does not suggest
    /// killing the daemon, because other programs may use it.
    package static func hint(onUnknownSocketOf daemon: HoldingProcess) -> String {
        daemon.isStopped
            ? daemon.resumingHint
            : "use a share of that pumpctld, or name its socket: \(DaemonSocket.variable)=PATH before the command"
    }

    /// Asks each daemon for its device of a name.
    ///
    /// - Parameter sockets: The sockets at which daemons may listen.
    /// - Returns: Each device with the socket of its daemon. A daemon that does not answer is left out.
    static func devices(
        named name: String, at sockets: [DaemonSocket], on loop: EventLoop
    ) async -> [(device: DaemonDevice, socket: DaemonSocket)] {
        var found: [(DaemonDevice, DaemonSocket)] = []
        for socket in sockets {
            let devices = (try? await answer(of: socket, on: loop).devices) ?? []
            found += devices.filter { $0.name == name }.map { ($0, socket) }
        }
        return found
    }

    private static func answer(
        of socket: DaemonSocket, on loop: EventLoop
    ) async throws(DaemonError) -> (devices: [DaemonDevice], programVersion: String?) {
        let (connection, response, _) = try await DaemonConnection.ask(
            socket, ["do": "devices"], within: DaemonAttachment.patience, on: loop)
        await connection.channel.close()
        return (response["devices"]?.elements?.compactMap(DaemonDevice.init) ?? [], connection.programVersion)
    }

    /// Returns the listed device with this identity; nil if there is none, or if `deviceID` is nil.
    public func device(of deviceID: String?) -> DaemonDevice? {
        deviceID.flatMap { id in devices.first { $0.deviceID == id } }
    }
}
