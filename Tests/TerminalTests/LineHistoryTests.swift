import Foundation
import TestSupport
import Testing

@testable import Terminal

@Suite("History of typed lines")
struct LineHistoryTests {
    private let folder = TemporaryFolder()

    @Test("Lines are kept for the next run, also if two programs write to the same file")
    func kept() {
        let path = folder.path("history")
        let (one, other) = (LineHistory(path: path), LineHistory(path: path))
        #expect(one.load() == [])
        one.append("ON")
        other.append("pumpe é")
        one.append("OFF")
        #expect(LineHistory(path: path).load() == ["ON", "pumpe é", "OFF"])
    }

    @Test("The history file is readable only by its user")
    func permissions() throws {
        let path = folder.path("history")
        LineHistory(path: path).append("ON")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("The oldest lines of an overlong history are removed")
    func limit() throws {
        let path = folder.path("history")
        let lines = (0..<(LineHistory.limit + 5)).map { "SPEED:\($0)" }
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        #expect(LineHistory(path: path).load() == Array(lines.dropFirst(5)))
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("SPEED:5\n"))
    }

    @Test("An overlong history keeps all lines if the disk is full")
    func fullDisk() throws {
        let path = folder.path("history")
        let lines = (0..<(LineHistory.limit + 5)).map { "SPEED:\($0)" }
        let text = lines.joined(separator: "\n") + "\n"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let new = "\(path).\(getpid())"
        try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: "/dev/full")
        #expect(LineHistory(path: path).load() == Array(lines.dropFirst(5)))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test("A history in a missing folder stays empty without an error")
    func nowhere() {
        let history = LineHistory(path: folder.path("no/folder/history"))
        history.append("ON")
        #expect(history.load() == [])
    }
}
