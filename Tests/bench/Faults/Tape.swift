import Synchronization

/// What went over a carrier, in order, as it was behind the faults: what the oracles read.
final class Tape: Sendable {
    enum Entry: Sendable {
        /// Bytes reached the host; over BLE one notification.
        case delivered([UInt8])
        /// Bytes left the host; over BLE one write.
        case sent([UInt8])
        /// Over BLE the host has read a value, and got these bytes.
        case read([UInt8])
        /// Over BLE the device has answered a write.
        case confirmed
        /// A link is open from here on.
        case opened
        /// The link is gone.
        case dropped
    }

    private let entries = Mutex<[Entry]>([])

    func add(_ entry: Entry) { entries.withLock { $0.append(entry) } }

    /// A place on the tape, behind all that there is.
    var end: Int { entries.withLock { $0.count } }

    /// Whether the last link is gone.
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

    /// All that there is from a place on.
    func entries(from start: Int) -> [Entry] { entries.withLock { Array($0[min(start, $0.count)...]) } }

    // MARK: What the host has sent

    /// The places, from `start` on, behind which the host has sent `bytes`, or something with them in it.
    func sendings(of text: String, from start: Int) -> [Int] {
        let bytes = Array(text.utf8)
        return entries(from: start).enumerated().compactMap { index, entry in
            if case .sent(let sent) = entry, sent.contains(bytes) { start + index + 1 } else { nil }
        }
    }

    // MARK: What was delivered

    /// What was delivered from `start` on, in one piece for each link.
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

    /// The notifications that were delivered from `start` on.
    func packets(from start: Int) -> [[UInt8]] {
        entries(from: start).compactMap { if case .delivered(let bytes) = $0 { bytes } else { nil } }
    }

    /// The lines whose end was delivered from `start` on, without their ends, none of them empty.
    ///
    /// `\n`, `\r` and both together end a line. What a link has brought of a line when it drops is none.
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
    /// Without the NULs before and behind, which do not count.
    var withoutNULsAround: ArraySlice<UInt8> {
        let line = drop { $0 == 0 }
        return line.prefix(through: line.lastIndex { $0 != 0 } ?? line.startIndex - 1)
    }
}
