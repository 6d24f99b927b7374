internal import DescriptorIO
internal import LineProtocol
internal import StrictJSON
internal import Transports

/// A request for a link to a device that a daemon owns.
struct DaemonAttachment {
    /// The longest wait for a device that the daemon has open. Chosen, not measured: a daemon answers at once.
    static let patience = Duration.seconds(5)
    /// The longest wait if the daemon may have to open the device first: a daemon closes a BLE device that no program
    /// uses. Chosen, not measured.
    static let openingPatience = Duration.seconds(20)

    /// The identification of a device.
    enum Target {
        /// The name of the device in the daemon's configuration.
        case name(String)
        /// The identity of the device on this computer: see `DeviceID`.
        case deviceID(String)

        fileprivate var members: [String: JSONValue] {
            switch self {
            case .name(let name): ["do": "attach", "device": .text(name)]
            case .deviceID(let id): ["do": "attach", "device_id": .text(id)]
            }
        }
    }

    let target: Target
    /// The name of the link.
    let linkName: String
    let patience: Duration
    let loop: EventLoop

    /// Opens a link through the first daemon that has the device.
    ///
    /// - Parameter sockets: The sockets at which daemons may listen.
    /// - Throws: If all daemons fail, the failure that says most about the device: see ``DaemonError/rank``.
    ///   `notRunning` if there are no sockets.
    func link(at sockets: [DaemonSocket]) async throws(DaemonError) -> DaemonLink {
        var failure = DaemonError(.notRunning)
        for socket in sockets {
            do throws(DaemonError) { return try await link(at: socket) } catch {
                if error.code == .cancelled || error.rank > failure.rank { failure = error }
                // A daemon that knows the device has failed (or the task was cancelled): no other daemon can have the
                // device.
                if failure.rank > DaemonError.unknownRank { throw failure }
            }
        }
        throw failure
    }

    private func link(at socket: DaemonSocket) async throws(DaemonError) -> DaemonLink {
        let (connection, response, rest) = try await DaemonConnection.ask(
            socket, target.members, within: patience, on: loop)
        let address = SharedDeviceAddress(
            socketPath: socket.path, name: response["device"]?.text ?? "", endpoint: response["endpoint"]?.text)
        return DaemonLink(
            connection.channel, name: linkName, address, family: response["family"]?.text, early: rest)
    }
}

extension DaemonError {
    /// The highest rank of a failure that does not show that the daemon has the device.
    fileprivate static let unknownRank = 3

    /// A number that orders failures by how much they say about the requested device: no daemon; a daemon without the
    /// device; no answer; no permission to ask, or no room; and last, a daemon that has the device, or a cancellation.
    fileprivate var rank: Int {
        switch code {
        case .notRunning: 0
        case .noSuchDevice: 1
        case .noAnswer: 2
        case .notPermitted, .tooManyClients: Self.unknownRank
        case .deviceAway, .refused, .cancelled: Self.unknownRank + 1
        }
    }
}
