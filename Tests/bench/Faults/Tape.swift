import Synchronization

/// The traffic of a carrier after all faults, in order, as input for the oracles.
final class Tape: Sendable {
    enum Entry: Sendable {
        /// Bytes that reached the host; over BLE one notification.
        case delivered([UInt8])
        /// Bytes that left the host; over BLE one write.
        case sent([UInt8])
        /// The bytes of a value that the host has read over BLE.
        case read([UInt8])
        /// A write confirmed by the device over BLE.
        case confirmed
        /// A link was opened.
        case opened
        /// The link was lost.
        case dropped
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }

    /// The position after the last entry.
    var end: Int { entries.withLock { $0.count } }

    /// Whether the latest link was lost; false if none was opened.
    var isDropped: Bool {
        entries.withLock { entries in
            for entry in entries.reversed() {
                switch entry {
                case .dropped: return true
                case .opened: return false
                default: continue
                }
            }
            return false
        }
    }

    /// The entries from a position on.
    func entries(from start: Int) -> [Entry] { entries.withLock { Array($0[min(start, $0.count)...]) } }

    // MARK: Sent by the host

    /// The positions, from `start` on, after each write of the host that contains `text`.
    func sendings(of text: String, from start: Int) -> [Int] {
        let bytes = Array(text.utf8)
        return entries(from: start).enumerated().compactMap { index, entry in
            if case .sent(let sent) = entry, sent.contains(bytes) { start + index + 1 } else { nil }
        }
    }

    // MARK: Delivered to the host

    /// The bytes delivered from `start` on, in one piece per link.
    func streams(from start: Int) -> [[UInt8]] {
        var streams: [[UInt8]] = [[]]
        for entry in entries(from: start) {
            switch entry {
            case .delivered(let bytes): streams[streams.count - 1] += bytes
            case .opened, .dropped: streams.append([])
            case .sent, .read, .confirmed: break
            }
        }
        return streams.filter { !$0.isEmpty }
    }

    /// The notifications delivered from `start` on.
    func packets(from start: Int) -> [[UInt8]] {
        entries(from: start).compactMap { if case .delivered(let bytes) = $0 { bytes } else { nil } }
    }

    /// The non-empty lines whose end was delivered from `start` on, without their ends.
    ///
    /// `\n`, `\r` and both together end a line. A line whose link drops before its end does not count.
    func lines(from start: Int) -> [String] {
        var lines: [String] = []
        var line: [UInt8] = []
        for (index, entry) in entries(from: 0).enumerated() {
            switch entry {
            case .delivered(let bytes):
                for byte in bytes {
                    guard byte == 0x0A || byte == 0x0D else {
                        line.append(byte)
                        continue
                    }
                    if index >= start, !line.withoutNULsAround.isEmpty {
                        lines.append(String(decoding: line.withoutNULsAround, as: UTF8.self))
                    }
                    line = []
                }
            case .opened, .dropped: line = []
            case .sent, .read, .confirmed: break
            }
        }
        return lines
    }
}

extension [UInt8] {
    /// The bytes without leading and trailing NULs, which hosts ignore.
    var withoutNULsAround: ArraySlice<UInt8> {
        let line = drop { $0 == 0 }
        return line.prefix(through: line.lastIndex { $0 != 0 } ?? line.startIndex - 1)
    }
}
