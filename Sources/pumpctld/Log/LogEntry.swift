import DeviceKit
import LineProtocol
import Logging
import RecordFormat
import SerialPort
import Sharing

/// An entry of the log: the words for an event of a device, a link or the daemon. ``LogFormat`` escapes its texts.
struct LogEntry: Sendable {
    /// The maximum lengths in Unicode scalars: of a quoted line of a device or client, and of any value, which may
    /// contain such a line. A device or client that sends long lines must not fill the log.
    private static let (lineLimit, valueLimit) = (200, 1000)

    var level: Logger.Level
    var message: String
    var metadata: Logger.Metadata

    /// Creates an entry. Values that are nil are left out, and long values are cut.
    init(_ level: Logger.Level, _ message: String, _ values: KeyValuePairs<String, String?> = [:]) {
        self.level = level
        self.message = message
        metadata = [:]
        for (key, value) in values { if let value { metadata[key] = .string(Self.shortened(value, Self.valueLimit)) } }
    }

    /// Returns bytes as text, cut to ``lineLimit``. Bytes that are not valid UTF-8 as a whole are escaped here; any
    /// other text is escaped by ``LogFormat``.
    fileprivate static func text(_ bytes: [UInt8]) -> String {
        shortened(String(validating: bytes, as: UTF8.self) ?? bytes.printable(), lineLimit)
    }

    /// Returns a text, cut to `limit` Unicode scalars with an ellipsis in place of the rest.
    private static func shortened(_ text: String, _ limit: Int) -> String {
        // Counts scalars, as a character may have any number of accents.
        guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex),
            end < text.endIndex
        else { return text }
        return text[..<end] + "…"
    }
}

extension Logger {
    /// Logs an entry.
    func log(_ entry: LogEntry) { log(level: entry.level, "\(entry.message)", metadata: entry.metadata) }
}

extension LogEntry {
    /// Creates the entry for an event of a shared device.
    ///
    /// - Parameter family: The device's family. Its queries are logged at the level `debug` only: a program that asks
    ///   for the state each second must not fill the log.
    init(_ report: SharingReport, of family: Family) {
        switch report.event {
        case .up(let link): self.init(.notice, "the link is open", ["link": link])
        case .lost(let reason): self.init(.warning, "the link is lost; waiting for the device", ["reason": reason])
        case .notOpened(let reason, let hint):
            self.init(.warning, "can't open the link; retrying", ["reason": reason, "hint": hint])
        case .notOfFamily(let line):
            self.init(
                .error, "the device does not answer as \(family.device) does",
                ["line": Self.text(line), "hint": "set the family; for an unknown device: raw"])
        case .doubtful(let reason):
            self.init(.warning, "the link may lead to another device; waiting for the original one", ["reason": reason])
        case .idle: self.init(.info, "the link is closed: no client is left")
        case .came(let client): self.init(.info, "a client has connected", ["client": client])
        case .left(let client): self.init(.info, "a client has left", ["client": client])
        case .dropped(let client, let reason):
            self.init(.warning, "a client was disconnected", ["client": client, "reason": reason])
        case .notServed(let client, let reason):
            self.init(.warning, "output or commands of a client were discarded", ["client": client, "reason": reason])
        case .turnedAway(let client, let reason):
            self.init(.warning, "a client was refused", ["client": client, "reason": reason])
        case .short(let reason):
            self.init(
                .error, "no room for more connections; new clients can send OFF and queries at most",
                ["reason": reason])
        case .sends(let line, let client):
            self.init(family.isQuestion(line) ? .debug : .info, "command", ["client": client, "line": Self.text(line)])
        case .simulates(let words, let client):
            self.init(.info, "an action at the simulator", ["client": client, "verb": words])
        case .notSent(let line, let client, let reason):
            self.init(
                .notice, "a command was not sent", ["client": client, "line": Self.text(line), "reason": reason])
        case .refusedByDevice(let line, let client, let answer):
            self.init(
                .info, "the device has refused a command",
                ["client": client, "line": Self.text(line), "answer": answer])
        case .failed(let line, let client, let reason):
            self.init(
                .warning, "a command has failed", ["client": client, "line": Self.text(line), "reason": reason])
        }
        if !report.device.isEmpty { metadata["device"] = .string(report.device) }
    }
}

extension Family {
    /// Returns whether a client's line is a query of the family without parameters, in upper or lower case.
    fileprivate func isQuestion(_ line: [UInt8]) -> Bool {
        commands.contains { command in
            command.effect == .query && command.parameters.isEmpty
                && command.line.utf8.elementsEqual(line) { $0.inUpperCase == $1.inUpperCase }
        }
    }
}

extension UInt8 {
    /// An ASCII letter in upper case; other bytes unchanged.
    fileprivate var inUpperCase: UInt8 { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & ~0x20 : self }
}

extension SharingReport {
    /// Returns whether the event is a client's query, which is logged at the level `debug`.
    func isQuestion(to family: Family) -> Bool {
        if case .sends(let line, _) = event { family.isQuestion(line) } else { false }
    }
}

extension LogEntry {
    /// Creates the entry for an event of a link.
    ///
    /// - Parameters:
    ///   - report: The event.
    ///   - name: The link's name or, while the link is being opened, the text of the endpoint.
    ///   - device: The device's name in the configuration.
    init(_ report: LinkOpening.Report, of name: String, device: String) {
        switch report {
        case .step(let step): self.init(.debug, "connecting", ["step": step.map { "\($0)" }])
        case .waiting(let holder): self.init(.debug, "waiting", ["for": holder.map { "\($0)" }])
        case .throughDaemon(let address):
            self.init(.warning, "another pumpctld has the device", ["device": address.name])
        case .opened: self.init(.trace, "open")
        case .traffic(let entry): self.init(entry)
        case .discovery(.remark(let remark)): self.init(.warning, remark)
        case .discovery(.restart(let reset)): self.init(.warning, "the board has restarted", ["cause": reset.cause])
        case .sharedPort(let use):
            let names = use.holders.map(\.description) + use.claims.compactMap(\.holder)
            self.init(
                .warning, "another program uses the port too, and may receive the replies",
                ["program": names.joined(separator: ", ")])
        case .held(.asked(let process)): self.init(.notice, "OFF was requested", ["client": "pid \(process)"])
        case .held(.unreachable): self.init(.warning, "'pumpctl off' can't ask this program to switch the device off")
        case .recording(let report): self.init(report)
        }
        metadata["device"] = .string(device)
        metadata["link"] = .string(name)
    }

    private init(_ entry: TracedLink.Entry) {
        switch entry {
        case .sends(let bytes): self.init(.trace, "sent", ["bytes": Self.text(bytes)])
        case .sendsBreak: self.init(.trace, "sent a break")
        case .received(let bytes): self.init(.trace, "received", ["bytes": Self.text(bytes)])
        case .confirms: self.init(.trace, "checking whether the device is still there")
        case .ended(let error): self.init(.trace, "the link ended", ["reason": error.map { "\($0)" }])
        }
    }

    private init(_ report: SharedRecording.Report) {
        switch report {
        case .notBegun(let trouble):
            self.init(.error, "nothing is recorded", ["reason": trouble.text, "hint": trouble.hint])
        case .begun(.failing(let trouble)):
            self.init(.error, "nothing is recorded for now", ["reason": trouble.text, "hint": trouble.hint])
        case .begun(.overflowing): self.init(.warning, "the disk is too slow: the record is incomplete")
        case .begun(.recovered(let lost)): self.init(.notice, "recording resumed", ["lost": "\(lost)"])
        case .begun(.broken): self.init(.error, "pumpctl-record has ended: nothing more is recorded")
        case .begun(.stillWriting): self.init(.warning, "pumpctl-record is still writing, and continues on its own")
        case .begun(.lost(let count)): self.init(.error, "the record is incomplete", ["lost": "\(count)"])
        }
    }
}
