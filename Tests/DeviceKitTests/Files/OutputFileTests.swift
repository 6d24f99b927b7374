import DeviceKit
import Foundation
import RecordFormat
import TestSupport
import Testing

@Suite("Result files", .timeLimit(.minutes(5)))
struct OutputFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path("table.csv") }
    private var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// The lines are written in blocks of 64 KiB. 30,000 lines are more than one block.
    @Test("A result file starts with its header, even without lines", arguments: [0, 1, 30_000])
    func lines(count: Int) async throws {
        _ = folder.write("of yesterday", to: "table.csv")
        try await ReplacedFile(path: path).replace { file in
            try await file.writeLines(header: Array("id".utf8)) {
                var numbers = (0..<count).makeIterator()
                return { numbers.next().map { Array("\($0)".utf8) } }
            }
        }
        #expect(content == (["id"] + (0..<count).map { "\($0)" }).map { $0 + "\n" }.joined())
    }

    @Test("A symbolic link to a result file stays, and the file that it names is replaced")
    func link() throws {
        let target = folder.write("of yesterday", to: "target.csv")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "target.csv")
        try ReplacedFile(path: path).replace(with: Array("of today".utf8))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "target.csv")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "of today")
    }

    /// A Python program with a file that can't be shortened. It prints the path of the file.
    private static let sealing = """
        import fcntl, os, sys
        file = os.memfd_create('table', os.MFD_ALLOW_SEALING)
        os.write(file, b'of yesterday')
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        print(f'/proc/{os.getpid()}/fd/{file}', flush=True)
        sys.stdin.read()
        """

    @Test("If the old content can't be removed, each write fails and changes nothing")
    func sealed() async throws {
        let owner = try await ChildProcess(["python3", "-c", Self.sealing])
        let path = try await owner.output.line("the path")
        let file = try OutputFile(path: path, .replaceWhenWritten)
        for _ in 0..<2 {
            let error = #expect(throws: FileError.self) { try file.write(Array("today".utf8)) }
            #expect(error?.errno == EPERM && !file.hasBegun)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "of yesterday")
        await owner.closeInput()
        #expect(try await owner.ending().status == 0)
    }

    @Test(
        "A failed write changes no old file, creates no new one, and leaves no partial file", arguments: [true, false])
    func failing(isThere: Bool) async throws {
        if isThere { _ = folder.write("of yesterday", to: "table.csv") }
        let trouble = Trouble(code: "damaged", text: "it is damaged", hint: "")
        let error = await #expect(throws: Trouble.self) {
            try await ReplacedFile(path: path).replace { try await $0.writeLines { throw trouble } }
        }
        #expect(error?.code == "damaged")
        #expect(content == (isThere ? "of yesterday" : nil))
        #expect(!FileManager.default.fileExists(atPath: path + ".partial"))
    }
}
