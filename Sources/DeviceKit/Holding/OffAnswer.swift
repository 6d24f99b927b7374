internal import LineProtocol

/// The answer to an ``OffRequest``. On the socket it is the line `off`, or `failed STATUS` and five lines: code,
/// outcome, device code, message and hint. A line is empty if the failure has no such text.
public enum OffAnswer: Sendable, Hashable {
    /// The device has confirmed that it is off.
    case off
    /// The device could not be switched off, or is not known to be off.
    case failed(OffFailure)

    /// The largest size of an answer in bytes: more than five lines of 500 characters take in UTF-8.
    static let limit = 16384

    /// The bytes of the answer on the socket.
    var bytes: [UInt8] {
        switch self {
        case .off: return Array("off\n".utf8)
        case .failed(let failure):
            let fields = [
                failure.code, failure.outcome ?? "", failure.deviceCode ?? "", failure.message, failure.hint ?? "",
            ]
            let lines = ["failed \(failure.status)"] + fields.map { [UInt8]($0.utf8).printable(limit: 500) }
            return Array((lines.joined(separator: "\n") + "\n").utf8.prefix(Self.limit))
        }
    }

    /// Reads an answer. Returns nil if the bytes are no answer or an incomplete one.
    init?(_ bytes: [UInt8]) {
        guard bytes.last == 0x0A, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeLast()
        if lines == ["off"] {
            self = .off
            return
        }
        guard lines.count == 6, lines[0].hasPrefix("failed "), let status = Int32(lines[0].dropFirst("failed ".count)),
            status != 0
        else { return nil }
        func field(_ index: Int) -> String? { lines[index].isEmpty ? nil : lines[index] }
        self = .failed(
            OffFailure(
                status: status, code: lines[1], message: lines[4], hint: field(5), outcome: field(2),
                deviceCode: field(3)))
    }
}
