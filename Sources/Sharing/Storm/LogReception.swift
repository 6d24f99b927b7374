internal import DeviceKit
internal import LineProtocol
internal import StrictJSON

extension SharedContent {
    /// The stored log of a storm sensor.
    static let log = SharedContent(name: "log", line: StormDownload.command) { LogReception() }
}

/// The reception of a storm sensor's log. The protocol has no size and no checksum: each line is checked to be a
/// measurement.
struct LogReception: Reception {
    private var finder = ESP32ResetFinder()
    private var decoder = StormDecoder(keepsPacketBounds: false)
    private var log = LogCheck()
    private var isAnnounced = false
    private(set) var failure: ReceptionFailure?

    var hasBegun: Bool { isAnnounced || log.byteCount > 0 }
    var byteCount: Int? { nil }
    var name: String? { nil }

    var check: [String: JSONValue] {
        ["check": "lines", "lines": .integer(log.lineCount), "odd_lines": .integer(log.oddLineCount)]
    }

    mutating func take(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for piece in finder.append(bytes) where failure == nil {
            switch piece {
            case .bytes(let bytes): text += take(decoder.append(bytes))
            case .reset:
                text += take(decoder.finish())
                failure = .brokenOff(
                    code: "restarted", reason: "the sensor has restarted",
                    hint: "check the sensor's power supply, then transfer the log again")
            }
        }
        return text
    }

    mutating func finish() -> [UInt8] {
        let text = take(decoder.append(finder.finish()) + decoder.finish())
        do throws(SessionError) { return text + (failure == nil ? try log.finish() : []) } catch {
            failure = .session(error)
            return text
        }
    }

    private mutating func take(_ pieces: [StormPiece]) -> [UInt8] {
        var text: [UInt8] = []
        for piece in pieces where failure == nil {
            switch piece {
            case .logBegins where hasBegun:
                failure = .brokenOff(
                    code: "began_again", reason: "the sensor started the log again, because it was requested again",
                    hint: "stop other programs that request the log, then transfer it again")
            case .logBegins: isAnnounced = true
            case .log(let bytes):
                do throws(SessionError) { text += try log.take(bytes, isAnnounced: isAnnounced) } catch {
                    failure = .session(error)
                }
            // A live row is no part of the log.
            case .live: break
            }
        }
        return text
    }
}
