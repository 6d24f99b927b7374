import Foundation
import Glibc
import StrictJSON
import TestSupport
import Testing

@testable import PageServer

@Suite("Captures by HTTP", .timeLimit(.minutes(5)))
struct CaptureTests {
    private let path = "/api/v1/captures"
    private let head = #"{"pumpctl_capture":1,"family":"pump","started":"2026-11-28T02:00:00.000Z"}"# + "\n"
    private let folder = TemporaryFolder()

    @Test("Captures are listed by name; other files, links and folders are not")
    func list() async throws {
        try await PageBench.run(captures: folder.path) { bench in
            _ = folder.write(head, to: "b.capture")
            _ = folder.write(head + "{}\n", to: "a")
            _ = folder.write("token=secret\n", to: "notes")
            _ = folder.write("", to: "empty")
            #expect(symlink(folder.path("a"), folder.path("link")) == 0)
            #expect(mkdir(folder.path("folder"), 0o700) == 0)
            #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
            let response = try await bench.ask("GET", path)
            let captures = response.json["captures"]?.elements ?? []
            #expect(captures.map { $0["name"]?.text } == ["a", "b.capture"])
            #expect(captures.first?["bytes"]?.integer == head.utf8.count + 3)
            #expect(captures.first?["family"]?.text == "pump")
            #expect(captures.first?["started"]?.text == "2026-11-28T02:00:00.000Z")
            #expect(response.json["unreadable"]?.integer == 0)
            #expect(response.json["complete"]?.boolean == true)
            for name in ["notes", "empty", "link", "folder", "pipe", "nothing"] {
                let code = try await bench.ask("GET", "\(path)/\(name)").code
                #expect(code == "no_such_capture", "\(name)")
            }
            for name in [".", "%2e%2e", "%2e%2e%2fnotes", "..%2F%CC%81x", "%D8%80%2Fx", "a%00"] {
                let code = try await bench.ask("GET", "\(path)/\(name)").code
                #expect(code == "bad_target", "\(name)")
            }
        }
    }

    @Test("A capture is sent complete and unchanged")
    func content() async throws {
        try await PageBench.run(captures: folder.path) { bench in
            let text = head + String(repeating: "{\"time_s\":1}\n", count: 20_000)
            _ = folder.write(text, to: "pump.capture")
            let response = try await bench.ask("GET", "\(path)/pump.capture")
            #expect(response.status == 200)
            #expect(response.head.contains("Content-Type: application/x-ndjson\r\n"))
            #expect(response.body == Array(text.utf8))
        }
    }

    @Test("A list that lacks captures is marked as incomplete")
    func incomplete() throws {
        for name in ["c", "b", "a"] { _ = folder.write(head, to: name) }
        let two = try CaptureFolder(path: folder.path, listLimit: 2).list()
        #expect(two["captures"]?.elements?.compactMap { $0["name"]?.text } == ["a", "b"])
        #expect(two["complete"]?.boolean == false)
        #expect(try CaptureFolder(path: folder.path, nameLimit: 2).list()["complete"]?.boolean == false)
    }

    @Test("A list leaves no file open")
    func descriptors() throws {
        for number in 0..<20 { _ = folder.write(number % 2 == 0 ? head : "other\n", to: "\(number)") }
        _ = try CaptureFolder(path: folder.path).list()
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(open.filter { $0.hasPrefix(folder.path) } == [])
    }

    @Test("Reading a capture that has become shorter gives nothing")
    func truncated() throws {
        let path = folder.write(head + String(repeating: " ", count: 100_000), to: "a")
        let capture = try CaptureFolder(path: folder.path).open("a")
        defer { capture.close() }
        #expect(capture.read(from: 0).count == 65_536)
        #expect(truncate(path, 1000) == 0)
        #expect(capture.read(from: 65_536) == [])
    }

    @Test("Without a folder, and with a missing one, requests for captures fail with a code for each")
    func noFolder() async throws {
        try await PageBench.run { bench in
            for path in [path, path + "/pump.capture"] {
                let code = try await bench.ask("GET", path).code
                #expect(code == "no_captures")
            }
        }
        try await PageBench.run(captures: folder.path("missing")) { bench in
            for path in [path, path + "/pump.capture"] {
                let code = try await bench.ask("GET", path).code
                #expect(code == "captures_unusable")
            }
        }
    }
}
