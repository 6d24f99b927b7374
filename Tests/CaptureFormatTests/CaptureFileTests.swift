import CaptureFormat
import TestSupport
import Testing

@Suite("The capture file", .timeLimit(.minutes(5)))
struct CaptureFileTests {
    private let folder = TemporaryFolder()
    private static let header = CaptureHeader(program: "pumpctl 0.1.0", family: "pump", started: "2026-11-25T07:00:00Z")

    private static func events(_ count: Int, seed: UInt64) -> [CaptureEvent] {
        var random = SplitMix64(seed: seed)
        var time = Duration.zero
        return (0..<count).map { _ in
            time += .microseconds(random.number(below: 3_000_000))
            return CaptureEvent.made(at: time, by: &random)
        }
    }

    private func write(_ events: [CaptureEvent], to name: String = "capture") throws -> String {
        let file = try CaptureFile(at: folder.path(name), Self.header)
        for event in events { try file.append(event) }
        return file.path
    }

    private func read(_ path: String) throws -> (events: [CaptureEvent], isCut: Bool, line: Int) {
        var reader = try CaptureReader(path)
        var events: [CaptureEvent] = []
        while let event = try reader.next() { events.append(event) }
        return (events, reader.isCut, reader.lineNumber)
    }

    /// The error of reading a file with this text; nil if the file is a valid capture.
    private func failure(_ text: String) throws -> CaptureError? {
        let path = folder.write(text, to: "text")
        do { _ = try read(path) } catch let error as CaptureError { return error }
        return nil
    }

    @Test("Events are read back as written, whatever the bytes", arguments: 1...20 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        let events = Self.events(200, seed: seed)
        let path = try write(events)
        #expect(try CaptureReader(path).header == Self.header)
        let (read, isCut, line) = try read(path)
        // #expect alone would print both arrays in full.
        let isSame = read == events
        #expect(isSame)
        #expect(!isCut)
        #expect(line == 201)
    }

    @Test("Each line is one JSON object without control characters")
    func lines() throws {
        _ = try write(Self.events(300, seed: 7))
        let text = String(decoding: folder.read("capture"), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 302)
        #expect(lines.last == "")
        for line in lines.dropLast() {
            #expect(line.hasPrefix("{\"") && line.hasSuffix("}"))
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
        }
    }

    @Test("Text is stored as text, other bytes as hex, times in seconds to the microsecond")
    func form() {
        let text = CaptureEvent(
            at: .microseconds(1_000_007), link: 1, .received(.init(Array("OK\r\n".utf8), lines: ["OK"])))
        #expect(
            text.json == #"{"time_s":1.000007,"link":1,"event":"received","text":"OK\u000d\u000a","lines":["OK"]}"#)
        let bytes = CaptureEvent(at: .zero, link: 2, .sent(.init([0xFF, 0x00])))
        #expect(bytes.json == #"{"time_s":0.000000,"link":2,"event":"sent","hex":"ff00"}"#)
    }

    @Test("A file truncated anywhere is read up to its last whole line and marked as cut")
    func cutOff() throws {
        let events = Self.events(5, seed: 3)
        let bytes = try folder.read(String(write(events).split(separator: "/").last ?? ""))
        let ends = bytes.indices.filter { bytes[$0] == 0x0A }
        for length in (ends[0] + 1)...bytes.count {
            let path = folder.write(String(decoding: bytes[..<length], as: UTF8.self), to: "cut-\(length)")
            let whole = ends.count { $0 < length } - 1
            let (read, isCut, _) = try read(path)
            // A last line that lacks only its line end counts as whole.
            let isWhole = ends.contains(length)
            #expect(read == Array(events[..<(whole + (isWhole ? 1 : 0))]))
            #expect(isCut == (bytes[length - 1] != 0x0A && !isWhole))
        }
    }

    @Test("An existing file is not overwritten")
    func existing() throws {
        _ = folder.write("precious", to: "capture")
        let error = try #require(throws: CaptureError.self) { try write([]) }
        #expect(error.code == .exists)
        #expect(error.hint.contains("never overwritten"))
        #expect(folder.read("capture") == Array("precious".utf8))
    }

    @Test("A newer version is refused with a hint, and so is any other file")
    func refused() throws {
        let newer = try failure(#"{"pumpctl_capture":2,"program":"pumpctl 9.0","family":"pump"}"# + "\n")
        #expect(newer?.code == .newerVersion)
        #expect(newer?.reason.contains("pumpctl 9.0") == true)
        #expect(newer?.hint == "install a newer pumpctl")
        for text in ["", "\n", "{}\n", "[1]\n", "text\n", #"{"pumpctl_capture":"1"}"# + "\n"] {
            #expect(try failure(text)?.code == .notACapture, "\(text)")
        }
        #expect(throws: CaptureError.self) { _ = try CaptureReader(folder.path("nosuch")) }
    }

    @Test("Unknown members and events are ignored; a damaged line is reported with its number")
    func unknown() throws {
        let header = Self.header.json + "\n"
        let known = #"{"event":"sent","time_s":1,"link":1,"text":"ON","mood":["good"]}"# + "\n"
        let event = #"{"event":"earthquake","time_s":2,"link":1,"magnitude":5}"# + "\n\n"
        let path = folder.write(header + event + known, to: "unknown")
        #expect(try read(path).events == [CaptureEvent(at: .seconds(1), link: 1, .sent(.init(Array("ON".utf8))))])
        for line in ["nonsense", #"{"event":"sent","time_s":1,"link":1,"hex":"0"}"#, #"{"event":"sent","link":1}"#] {
            let error = try failure(header + known + line + "\n" + known)
            #expect(error?.code == .notACapture)
            #expect(error?.line == 3, "\(line)")
        }
    }
}
