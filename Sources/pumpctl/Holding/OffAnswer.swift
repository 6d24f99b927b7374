import LineProtocol

/// What became of an OFF that another pumpctl has sent: some lines of text, at most ``limit`` bytes.
enum OffAnswer: Sendable {
    /// The pump is off: it has said so.
    case off
    /// It could not be switched off, or is not known to be.
    case failed(Failure)

    /// The longest answer in bytes.
    static let limit = 16384

    /// As it goes over the socket.
    var bytes: [UInt8] {
        switch self {
        case .off: return Array("off\n".utf8)
        case .failed(let failure):
            let fields = [
                failure.code, failure.outcome ?? "", failure.deviceCode ?? "", failure.message, failure.hint ?? "",
            ]
            let lines = ["failed \(failure.status.rawValue)"] + fields.map { [UInt8]($0.utf8).printable(limit: 500) }
            return Array((lines.joined(separator: "\n") + "\n").utf8.prefix(Self.limit))
        }
    }

    /// Reads an answer; nil where it is none, or not whole.
    init?(_ bytes: [UInt8]) {
        guard bytes.last == 0x0A, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeLast()
        if lines == ["off"] {
            self = .off
            return
        }
        guard lines.count == 6, lines[0].hasPrefix("failed "), let number = Int32(lines[0].dropFirst("failed ".count)),
            let status = ExitStatus(rawValue: number), status != .done
        else { return nil }
        func field(_ index: Int) -> String? { lines[index].isEmpty ? nil : lines[index] }
        self = .failed(
            Failure(
                status, code: lines[1], lines[4], hint: field(5), outcome: field(2), deviceCode: field(3)))
    }
}
