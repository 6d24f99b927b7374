internal import DescriptorIO
internal import LineProtocol
internal import RecordFormat
internal import Transports

/// Gets a link to a device from the daemon that has it.
struct DaemonAttachment {
    /// How long a daemon may take to give a device that it has open.
    static let patience = Duration.seconds(5)
    /// How long it may take where it has to open the device first, as one that it closes while nobody needs it.
    static let openingPatience = Duration.seconds(20)

    /// What names a device.
    enum Target {
        /// What the daemon calls it.
        case name(String)
        /// What tells it from all others: see `DeviceID`.
        case deviceID(String)

        fileprivate var members: String {
            switch self {
            case .name(let name): "\"do\":\"attach\",\"device\":\(JSONText.quoted(name))"
            case .deviceID(let id): "\"do\":\"attach\",\"device_id\":\(JSONText.quoted(id))"
            }
        }
    }

    let target: Target
    /// What the link is called.
    let linkName: String
    let patience: Duration
    let loop: EventLoop

    /// Opens a link by the first daemon that has the device.
    ///
    /// - Parameter sockets: Where daemons may listen.
    /// - Throws: Of several failures the one of the daemon that came nearest to having the device.
    func link(at sockets: [DaemonSocket]) async throws(DaemonError) -> DaemonLink {
        var failure = DaemonError(.notRunning)
        for socket in sockets {
            do throws(DaemonError) { return try await link(at: socket) } catch {
                if error.code == .cancelled || error.rank > failure.rank { failure = error }
                // Where the daemon knows the device, no other one can have it.
                if failure.rank > DaemonError.unknownRank { throw failure }
            }
        }
        throw failure
    }

    private func link(at socket: DaemonSocket) async throws(DaemonError) -> DaemonLink {
        let (connection, response, rest) = try await DaemonConnection.ask(
            socket, target.members, within: patience, on: loop)
        let address = SharedDeviceAddress(
            socketPath: socket.path, name: response.text("device") ?? "", endpoint: response.text("endpoint"))
        return DaemonLink(
            connection.channel, name: linkName, address, family: response.text("family"), early: rest)
    }
}

extension DaemonError {
    /// That of a daemon that says nothing of the device, or does not know it.
    fileprivate static let unknownRank = 3

    /// How much the failure says of the device that was asked for.
    fileprivate var rank: Int {
        switch code {
        case .notRunning: 0
        case .noSuchDevice: 1
        case .noAnswer: 2
        case .notPermitted: Self.unknownRank
        case .deviceAway, .refused, .cancelled: Self.unknownRank + 1
        }
    }
}
