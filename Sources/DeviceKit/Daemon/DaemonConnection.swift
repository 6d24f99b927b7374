internal import DescriptorIO
internal import Glibc
internal import LineProtocol
internal import StrictJSON

/// A connection to a daemon for a single request.
struct DaemonConnection {
    /// The number of the only request.
    private static let requestID = 1
    /// The largest size of a response in bytes. A daemon with 10,000 devices needs about two million.
    static let responseLimit = 16 << 20

    /// The interval between checks whether the daemon is stopped, as by Ctrl-Z. A stopped daemon has at most this long
    /// to be resumed.
    private static let stopPatience = Duration.seconds(1)

    let socket: DaemonSocket
    let channel: DescriptorChannel
    /// The process that listens; nil if its PID is not visible here, as when the daemon runs in another container.
    private let daemon: LinkHolder?
    /// The version of the daemon's program, from its greeting; nil if the daemon has not reported it.
    private(set) var programVersion: String?

    /// Connects to a daemon, sends a request and waits for the response.
    ///
    /// - Parameters:
    ///   - members: The members of the request without its number.
    ///   - patience: The longest wait for the connection, and again for the response.
    /// - Returns: The connection, which the caller closes; the response; and the bytes that arrived after the response.
    static func ask(
        _ socket: DaemonSocket, _ members: [String: JSONValue], within patience: Duration, on loop: EventLoop
    ) async throws(DaemonError) -> (connection: DaemonConnection, response: JSONValue, rest: [UInt8]) {
        var connection = try await open(socket, within: patience, on: loop)
        do throws(DaemonError) {
            let (response, rest) = try await connection.exchange(members, within: patience)
            return (connection, response, rest)
        } catch {
            await connection.channel.close()
            throw error
        }
    }

    /// Connects to a daemon. The greeting is not awaited: it is read with the response.
    private static func open(
        _ socket: DaemonSocket, within patience: Duration, on loop: EventLoop
    ) async throws(DaemonError) -> DaemonConnection {
        do {
            let channel = try await DescriptorChannel.connect(
                to: .unix(path: socket.path), on: loop, deadline: .now.advanced(by: patience))
            let processID = (try? await channel.peer().processID) ?? 0
            let daemon = processID > 0 ? LinkHolder(processID: processID, command: "pumpctld") : nil
            return DaemonConnection(socket: socket, channel: channel, daemon: daemon)
        } catch {
            let code: DaemonError.Code =
                switch (error.code, error.errno) {
                case (.cancelled, _): .cancelled
                case (_, EACCES), (_, EPERM): .notPermitted
                // The daemon's queue of connections is full, or the daemon accepts none.
                case (_, EAGAIN), (_, ETIMEDOUT): .noAnswer
                default: .notRunning
                }
            throw DaemonError(code, at: socket)
        }
    }

    /// Sends the request and waits for the response.
    ///
    /// - Throws: `noAnswer` after `patience`, or earlier if the daemon is stopped or closes the connection;
    ///   `cancelled`; the daemon's refusal.
    private mutating func exchange(
        _ members: [String: JSONValue], within patience: Duration
    ) async throws(DaemonError) -> (JSONValue, rest: [UInt8]) {
        let timer = Task(executorPreference: channel.loop) { [self] in await giveUp(after: patience) }
        defer { timer.cancel() }
        let answer: (JSONValue, rest: [UInt8])?
        do throws(DescriptorError) {
            let request = JSONValue.object(members.merging(["id": .integer(Self.requestID)]) { $1 })
            // A daemon with too many clients closes the connection at once. Its refusal can be read even if writing fails.
            try? await channel.write(Array(request.bytes) + [UInt8(ascii: "\n")])
            answer = try await receive()
        } catch {
            throw error.code == .cancelled ? DaemonError(.cancelled, at: socket) : silence
        }
        guard let answer else { throw silence }
        try check(answer.0)
        return answer
    }

    /// Closes the channel after `patience`, or as soon as the daemon is found to be stopped and so can't respond.
    private func giveUp(after patience: Duration) async {
        let clock = EventLoopClock(channel.loop)
        let end = clock.now.advanced(by: patience)
        repeat {
            let time = min(Self.stopPatience, clock.now.duration(to: end))
            guard (try? await clock.sleep(for: time)) != nil else { return }
        } while clock.now < end && daemon?.process.isStopped != true
        await channel.close()
    }

    /// The error for a missing response. The error names the daemon if the daemon is stopped.
    private var silence: DaemonError {
        var error = DaemonError(.noAnswer, at: socket)
        error.stopped = daemon.flatMap { $0.process.isStopped ? $0 : nil }
        return error
    }

    /// Waits for the response. Returns nil if the timer closes the channel first, or if the daemon sends a line of more
    /// than ``responseLimit`` bytes.
    private mutating func receive() async throws(DescriptorError) -> (JSONValue, rest: [UInt8])? {
        var received: [UInt8] = []
        while received.count <= Self.responseLimit, let bytes = try await channel.read() {
            received += bytes
            if let response = takeResponse(from: &received) { return (response, received) }
        }
        return nil
    }

    /// Removes complete lines from `received` up to the response, and returns the response; nil if it has not arrived.
    /// Remembers the version from the greeting.
    private mutating func takeResponse(from received: inout [UInt8]) -> JSONValue? {
        while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(received[..<end])
            received.removeSubrange(...end)
            let message = try? JSONValue(line, size: Self.responseLimit)
            // The refusal of the connection itself has the ID null.
            if let message, let id = message["id"], id.isNull || id.integer == Self.requestID { return message }
            programVersion = message?["program_version"]?.text ?? programVersion
        }
        return nil
    }

    /// Checks that the daemon has accepted the request.
    ///
    /// - Throws: The daemon's refusal.
    private func check(_ response: JSONValue) throws(DaemonError) {
        guard response["ok"]?.boolean != true else { return }
        let error = response["error"]
        throw DaemonError(
            .init(word: error?["code"]?.text), at: socket, message: error?["message"]?.text,
            hint: error?["hint"]?.text)
    }
}
