public import DescriptorIO
public import LineProtocol

/// A link over one descriptor: a stream of bytes that may be cut anywhere.
public final class DescriptorLink: Link {
    public let name: String
    public var keepsPacketBounds: Bool { false }
    public var maximumWriteLength: Int? { nil }
    public var executor: any SerialExecutor & TaskExecutor { channel.loop }

    public let mayHaveReset: Bool
    public let mayBeMidLine: Bool
    public let deviceID: String?
    /// The node of the serial port that carries it, as in `/dev/ttyUSB0`; nil where something else does.
    public let portPath: String?
    /// How long a byte takes on the line of that port by its settings, start and stop bits included; nil where something else
    /// carries the link. A pseudo-terminal has settings too, and no line.
    public let byteTime: Duration?
    public var remark: String? { telnet?.remark }

    let channel: DescriptorChannel
    private let setBreak: (@Sendable (Bool) throws(LinkError) -> Void)?
    /// Where a Telnet server may be at the other end.
    private let telnet: TelnetInput?
    private let finishWriting: @Sendable (DescriptorChannel) async -> Void

    /// A link that owns `channel`.
    public convenience init(_ channel: DescriptorChannel, name: String) {
        self.init(channel, name: name) { _ in }
    }

    /// A link over a socket of a serial server, which may turn out to speak Telnet.
    convenience init(serverSocket channel: DescriptorChannel, name: String) {
        self.init(channel, name: name, telnet: TelnetInput()) { _ in }
    }

    /// - Parameters:
    ///   - deviceID: The device that it has for itself.
    ///   - portPath: The node of the serial port that `channel` is.
    ///   - byteTime: How long a byte takes on its line.
    ///   - telnet: Takes out what a Telnet server says to Telnet clients.
    ///   - setBreak: Begins or ends a break, where the carrier has one.
    ///   - finishWriting: Runs before the channel is closed, to let what was sent get out.
    init(
        _ channel: DescriptorChannel, name: String, deviceID: String? = nil, portPath: String? = nil,
        byteTime: Duration? = nil, mayHaveReset: Bool = false, mayBeMidLine: Bool = false, telnet: TelnetInput? = nil,
        setBreak: (@Sendable (Bool) throws(LinkError) -> Void)? = nil,
        finishWriting: @escaping @Sendable (DescriptorChannel) async -> Void
    ) {
        self.channel = channel
        self.name = name
        self.deviceID = deviceID
        self.portPath = portPath
        self.byteTime = byteTime
        self.telnet = telnet
        self.mayHaveReset = mayHaveReset
        self.mayBeMidLine = mayBeMidLine
        self.setBreak = setBreak
        self.finishWriting = finishWriting
    }

    public func send(_ bytes: [UInt8]) async throws(LinkError) {
        do { try await channel.write(bytes) } catch { throw linkError(error, "send") }
    }

    public func sendAtOnce(_ bytes: [UInt8]) throws(LinkError) -> Bool {
        do { return try channel.writeAtOnce(bytes) } catch { throw linkError(error, "send") }
    }

    public func sendBreak(for duration: Duration) async throws(LinkError) {
        guard let setBreak else {
            throw LinkError(.unsupported, name: name, activity: "send a break", remedy: .sendNoBreak)
        }
        try setBreak(true)
        // Also where the task is cancelled meanwhile, the break ends.
        try? await EventLoopClock(channel.loop).sleep(for: duration)
        try setBreak(false)
    }

    public func receive() async throws(LinkError) -> [UInt8]? {
        do throws(DescriptorError) {
            guard let telnet else { return try await channel.read() }
            while let bytes = try await channel.read() {
                let data = telnet.take(bytes)
                if !data.isEmpty { return data }
            }
            return nil
        } catch {
            return try rest(at: error)
        }
    }

    public func receiveAvailable() async throws(LinkError) -> [UInt8] {
        do throws(DescriptorError) {
            guard let telnet else { return try await channel.readAvailable() }
            while true {
                let bytes = try await channel.readAvailable()
                let data = telnet.take(bytes)
                if bytes.isEmpty || !data.isEmpty { return data }
            }
        } catch {
            return try rest(at: error)
        }
    }

    /// What was held back of what a far end said that is gone; the error if nothing was.
    private func rest(at error: DescriptorError) throws(LinkError) -> [UInt8] {
        if error.code == .disconnected, let rest = telnet?.finish(), !rest.isEmpty { return rest }
        throw linkError(error, "receive")
    }

    public func forward(to receiver: @escaping @Sendable (LinkArrival) -> Void) async {
        let isSocket = telnet != nil
        await channel.forward { [name, telnet] arrival in
            if case .success(let bytes?) = arrival {
                let data = telnet?.take(bytes) ?? bytes
                if !data.isEmpty { receiver(.bytes(data)) }
                return
            }
            if let rest = telnet?.finish(), !rest.isEmpty { receiver(.bytes(rest)) }
            guard case .failure(let error) = arrival else { return receiver(.ended(nil)) }
            receiver(.ended(LinkError(error, name: name, activity: "receive", isSocket: isSocket)))
        }
    }

    private func linkError(_ error: DescriptorError, _ activity: String) -> LinkError {
        LinkError(error, name: name, activity: activity, isSocket: telnet != nil)
    }

    public func close() async {
        if await channel.isOpen { await finishWriting(channel) }
        await channel.close()
    }
}
