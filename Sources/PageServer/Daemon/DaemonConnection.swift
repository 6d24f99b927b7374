internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import StrictJSON

/// A connection to pumpctld, which carries JSON objects, one a line.
struct DaemonConnection: Sendable {
    typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// The version of the daemon's interface that this program knows.
    static let version = 1
    /// The largest size of a message in bytes. A list of 10,000 devices takes about two million.
    static let messageLimit = 16 << 20

    /// Connects to the first socket at which a daemon listens, and returns its path too.
    ///
    /// - Throws: ``Problem`` with status 503 and the outcome `not_sent`.
    @concurrent
    static func open(
        _ paths: [String], on loop: any EventLoop
    ) async throws(Problem) -> (connection: Channel, path: String) {
        var failure: (any Error)?
        for path in paths {
            do {
                let connection = try await ClientBootstrap(group: loop).connectTimeout(.seconds(2)).connect(
                    unixDomainSocketPath: path
                ) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Channel(wrappingChannelSynchronously: channel, configuration: .init())
                    }
                }
                return (connection, path)
            } catch {
                // The failure at a socket that exists explains more than a missing socket.
                let isAbsent = (error as? IOError)?.errnoCode == ENOENT
                if failure == nil || !isAbsent { failure = error }
            }
        }
        throw Self.problem(failure)
    }

    /// The line of a request.
    static func line(_ members: [String: JSONValue], id: Int) -> ByteBuffer {
        ByteBuffer(bytes: Array(JSONValue.object(members.merging(["id": .integer(id)]) { $1 }).bytes) + [0x0A])
    }

    private static func problem(_ error: (any Error)?) -> Problem {
        switch (error as? IOError)?.errnoCode {
        case EACCES, EPERM:
            Problem(
                .serviceUnavailable, "daemon_not_permitted", "this server may not use the socket of pumpctld",
                hint: "add its user to the group of pumpctld's configuration", outcome: "not_sent")
        case EAGAIN, ETIMEDOUT: .daemonSilent(outcome: "not_sent")
        default: .daemonAway
        }
    }
}

/// The messages of a daemon, split and parsed.
struct DaemonMessages {
    private var lines = JSONLines()
    private var chunks: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) { chunks = inbound.makeAsyncIterator() }

    /// Whether a message has arrived and was not taken.
    mutating func hasNext() -> Bool { lines.hasLine() }

    /// Waits for the next message; nil at the end of the connection.
    ///
    /// - Throws: `daemon_version` if a message is too long or is not JSON; an error of NIO if the connection breaks.
    @concurrent
    mutating func next() async throws -> JSONValue? {
        while true {
            if let line = lines.next() {
                guard let message = try? JSONValue(line, size: .max) else { throw Problem.otherVersion }
                return message
            }
            guard lines.count <= DaemonConnection.messageLimit else { throw Problem.otherVersion }
            guard let chunk = try await chunks.next() else { return nil }
            lines.append(Array(chunk.readableBytesView))
        }
    }
}

extension Problem {
    /// The codes of failures that pass when the daemon is there again, or has room.
    static let absences: Set<String> = ["daemon_away", "daemon_lost", "daemon_silent", "too_many_clients"]

    /// No daemon listens.
    static let daemonAway = Problem(
        .serviceUnavailable, "daemon_away", "pumpctld does not run", hint: "start it: pumpctl serve",
        outcome: "not_sent")

    /// This server has not watched the daemon so far, or not for some time, and does not know whether it runs.
    static let daemonUnknown = Problem(
        .serviceUnavailable, "daemon_unknown", "this server has not heard of pumpctld since anybody asked",
        hint: "try again", outcome: "not_sent")

    /// A message of the daemon can't be read, or its greeting names another version of the interface.
    static let otherVersion = Problem(
        .serviceUnavailable, "daemon_version", "pumpctld is of another version than this server",
        hint: "install both of the same version, and start them again", outcome: "not_sent")

    /// Checks the daemon's first line.
    ///
    /// - Throws: The daemon's reason if it refuses this client, as when it has too many; or `daemon_version`.
    static func check(hello: JSONValue) throws(Problem) {
        if let error = hello["error"] { throw Problem(daemonError: error) }
        guard hello["version"]?.integer == DaemonConnection.version else { throw .otherVersion }
    }

    /// The daemon did not even greet this server, or did not answer a question that needs no device.
    static func daemonSilent(outcome: String?) -> Problem {
        Problem(
            .serviceUnavailable, "daemon_silent", "pumpctld does not answer",
            hint: "if it is suspended, resume it: pkill -CONT pumpctld; or restart it", outcome: outcome)
    }

    /// A request for a device was sent to the daemon, and no answer came in time. Other commands may have gone first,
    /// as OFF does.
    static func noAnswer(outcome: String) -> Problem {
        outcome == "unknown"
            ? Problem(
                .gatewayTimeout, "no_answer", "no answer in time; whether the command was carried out is unknown",
                hint: "stop the device, if it can be on; or use its button or its supply", outcome: outcome)
            : Problem(
                .gatewayTimeout, "no_answer", "no answer in time",
                hint: "other commands come first, or pumpctld is suspended: try again", outcome: outcome)
    }

    /// The clients that asked for a command have left before the answer.
    static func askerLeft(outcome: String?) -> Problem {
        Problem(
            .serviceUnavailable, "cancelled", "the command's sender left before the answer",
            hint: "read the device's state before you repeat the command", outcome: outcome)
    }

    /// The daemon ended the connection before the answer.
    static func daemonLost(outcome: String?) -> Problem {
        outcome == "unknown"
            ? Problem(
                .gatewayTimeout, "daemon_lost",
                "pumpctld ended before the answer; whether the command was carried out is unknown",
                hint: "read the device's state once pumpctld is back, or use its button or its supply",
                outcome: outcome)
            : Problem(
                .serviceUnavailable, "daemon_lost", "pumpctld ended before the answer", hint: "try again",
                outcome: outcome)
    }
}

/// A request to the daemon on a connection of its own. The daemon gives the request up when the connection ends: a
/// change that waits in the daemon is not sent after its client has given up.
struct DaemonCall {
    let paths: [String]
    let loop: any EventLoop

    /// Sends a request and returns the response to a request that succeeded. Cancelling the task ends the connection.
    ///
    /// - Parameters:
    ///   - members: The request, without its ID.
    ///   - time: The longest wait for the response.
    ///   - outcome: The outcome of a request that was sent and is not answered: `unknown` for a command that may change
    ///     the device.
    ///   - write: Writes the request to the connection, or throws if it must not be sent any more.
    /// - Throws: ``Problem``.
    @concurrent
    func ask(
        _ members: [String: JSONValue], within time: TimeAmount, outcome: String?,
        write: @Sendable (any Channel, ByteBuffer) async throws(Problem) -> Void = {
            $0.writeAndFlush($1, promise: nil)
        }
    ) async throws(Problem) -> JSONValue {
        let connection = try await DaemonConnection.open(paths, on: loop).connection
        let channel = connection.channel
        // Before the timer starts, so that more than `time` has passed when it ends.
        let start = NIODeadline.now()
        let timer = loop.scheduleTask(in: time) { channel.close(promise: nil) }
        defer { timer.cancel() }
        var response: JSONValue?
        var isSent = false
        do {
            try await withTaskCancellationHandler {
                try await connection.executeThenClose { inbound, _ in
                    var messages = DaemonMessages(inbound)
                    guard let hello = try await messages.next() else { return }
                    try Problem.check(hello: hello)
                    try await write(channel, DaemonConnection.line(members, id: 0))
                    isSent = true
                    while response == nil, let message = try await messages.next() {
                        // A stop that was written to this connection, behind a change, has the ID 1.
                        guard message["id"]?.integer ?? 0 == 0 else { continue }
                        if let error = message["error"] { throw Problem(daemonError: error) }
                        if message["ok"]?.boolean == true { response = message }
                    }
                }
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch let problem as Problem { throw problem } catch {}
        if let response { return response }
        let outcome = outcome.map { isSent ? $0 : "not_sent" }
        if Task.isCancelled { throw .askerLeft(outcome: outcome) }
        guard NIODeadline.now() - start >= time else { throw .daemonLost(outcome: outcome) }
        if isSent, let outcome { throw .noAnswer(outcome: outcome) }
        throw .daemonSilent(outcome: outcome)
    }
}
