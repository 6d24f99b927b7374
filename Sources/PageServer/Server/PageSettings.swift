/// The settings of a server.
package struct PageSettings: Sendable {
    /// The address of the server.
    package enum Address: Sendable, Hashable {
        /// A TCP port on a loopback address.
        case loopback(host: String, port: Int)
        /// A Unix socket, which a reverse proxy reaches.
        case unix(path: String)
    }

    /// The limits that protect the server; `docs/http.md` lists them for clients. Tests make them smaller.
    package struct Limits: Sendable {
        /// The time limits in milliseconds: of a request's head on a new connection, of the next head on a connection
        /// that was used, of a request's body, and of a reader that takes nothing.
        package var (firstHead, nextHead, body, write) = (10_000, 60_000, 15_000, 20_000)
        /// The largest numbers of connections: of clients that have sent no valid token, and of all.
        package var (strangers, connections) = (128, 512)
        /// The largest number of concurrent streams of events.
        package var streams = 256
        /// The largest number of commands under way, without stops.
        package var commands = 24
        /// The longest wait for the daemon's answer in milliseconds.
        package var answer = 5000
        /// The number of questions, one every 2 s, that a daemon leaves unanswered before it counts as silent.
        package var unanswered = 2
        /// The time in milliseconds for which a stop is repeated while the daemon is away.
        package var stop = 2000
        /// The delay of the answer to a wrong token or code in milliseconds.
        package var wrongToken = 1000

        package init() {}
    }

    /// The address of the server.
    package var address: Address
    /// Returns the paths at which a daemon may listen, best first.
    package var daemonSockets: @Sendable () -> [String]
    /// Further host names by which browsers reach the server, as through a reverse proxy.
    package var names: [String] = []
    /// The path of the file of sessions.
    package var sessionPath: String
    /// The folder of the captures that clients may read; nil for none.
    package var captures: String?
    /// The path of pumpctl, which makes trials of devices and offers peers; nil if it is not installed.
    package var pumpctl: String?
    package var limits = Limits()
    /// Receives lines for the log, without line ends.
    package var log: @Sendable (String) -> Void = { _ in }

    package init(_ address: Address, sessionPath: String, daemonSockets: @escaping @Sendable () -> [String]) {
        self.address = address
        self.sessionPath = sessionPath
        self.daemonSockets = daemonSockets
    }
}
