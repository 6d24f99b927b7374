import DescriptorIO
import FirmwareSim
import Foundation
import SerialPort
import TestSupport
import Testing

@Suite("pumpctl peer image get")
struct ImageGetTests {
    /// The image of `size` bytes that a simulated peer with the seed 7 sends.
    private static func picture(_ size: Int = 20_000) -> Data { Data(PeerPicture(seed: 7, byteCount: size).bytes) }

    /// Returns the file's content, nil if there is no file; checks that the folder has no other file.
    private static func content(_ path: String, in folder: TemporaryFolder) throws -> Data? {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.allSatisfy { folder.path($0) == path }, "\(names)")
        return FileManager.default.contents(atPath: path)
    }

    @Test("The file is replaced only by a whole image")
    func file() async throws {
        let folder = TemporaryFolder()
        let path = folder.write("of yesterday", to: "image.png")
        let ending = try await Pumpctl.run("-p", "sim:peer?seed=7&unpaced", "peer", "image", "get", "-o", path)
        #expect(ending.status == 0)
        #expect(ending.output == "20000 bytes in \(path)\n")
        #expect(ending.errors == "")
        #expect(try Self.content(path, in: folder) == Self.picture())

        let record = try await Pumpctl.run(
            "-p", "sim:peer?seed=7&unpaced&size=128&chunk=1", "--json", "peer", "image", "get", "-o", path
        ).object()
        #expect(record["bytes"] as? Int == 128)
        #expect(record["file"] as? String == path)
        #expect(record["name"] as? String == "image.png")
        #expect(try Self.content(path, in: folder) == Self.picture(128))
    }

    @Test(
        "A faulty image leaves the old file unchanged",
        arguments: [
            ("no_file_selected", 1, "choose an image"), ("not_png", 1, "PNG"), ("read_failed", 1, "image again at"),
            ("begin_bad_format", 76, "IMG_BEGIN"), ("too_large", 76, "smaller"),
            ("base64_invalid", 76, "fetch it again"), ("size_mismatch", 76, "fetch it again"),
            ("stalls", 75, "--timeout"),
        ] as [(String, Int32, String)])
    func faults(fault: String, status: Int32, hint: String) async throws {
        let folder = TemporaryFolder()
        let path = folder.write("of yesterday", to: "image.png")
        let timeout = fault == "stalls" ? "0.3" : "100"
        let ending = try await Pumpctl.run(
            "-p", "sim:peer?unpaced&fault=\(fault)", "--timeout", timeout, "--json", "peer", "image", "get", "-o", path
        )
        expectFailure(ending, status, hint: hint)
        let record = try ending.object()
        #expect(record["error"] as? String == (status == 1 ? "refused" : status == 75 ? "no_answer" : fault))
        #expect(record["device_code"] as? String == (status == 1 ? fault : nil))
        #expect(try Self.content(path, in: folder) == Data("of yesterday".utf8))
    }

    @Test(
        "A faulty image writes nothing to standard output",
        arguments: ["base64_invalid", "size_mismatch", "stalls"])
    func standardOutput(fault: String) async throws {
        let timeout = fault == "stalls" ? "0.3" : "100"
        let ending = try await Pumpctl.run(
            "-p", "sim:peer?unpaced&fault=\(fault)", "--timeout", timeout, "peer", "image", "get", "-o", "-")
        expectFailure(ending, fault == "stalls" ? 75 : 76, hint: "nothing was written")
        #expect(ending.output == "")
    }

    @Test("An image is not written to a terminal")
    func onTerminal() async throws {
        let user = try await TerminalTests.UserTerminal()
        let program = try await Pumpctl.start(
            ["-p", "sim:peer?unpaced", "peer", "image", "get", "-o", "-"], terminal: user.path)
        #expect(try await program.ending().status == 64)
        try await user.screen.text(upTo: "name a file")
        await user.close()
    }

    @Test("A link lost during the image leaves no file")
    func cutOff() async throws {
        let listener = try await SocketListener.listen(at: .tcp(host: "127.0.0.1", port: 0))
        Task {
            while let connection = try? await listener.accept() {
                _ = try? await connection.read()
                try? await connection.write(Array("IMG_BEGIN a.png 300\r\nAAAAAAAA\r\nAA".utf8))
                await connection.close()
            }
        }
        let folder = TemporaryFolder()
        let path = folder.path("image.png")
        let ending = try await Pumpctl.run(
            "-p", "tcp:127.0.0.1:\(listener.port ?? 0)", "--json", "peer", "image", "get", "-o", path)
        expectFailure(ending, 74, saying: "6 of 300 bytes arrived", hint: "nothing was written")
        #expect(try ending.object()["outcome"] as? String == "incomplete")
        #expect(try Self.content(path, in: folder) == nil)
        await listener.close()
    }

    @Test("Ctrl-C during the image exits with 130 and leaves no file")
    func interrupted() async throws {
        let peer = try await ScriptedDevice { _ in "IMG_BEGIN a.png 300\r\nAAAA\r\nstill there?\r\n" }
        let folder = TemporaryFolder()
        let path = folder.path("image.png")
        let program = try await Pumpctl.start(["-p", peer.port, "peer", "image", "get", "-o", path])
        #expect(try await program.errors.line() == "pumpctl: the peer says: text  still there?")
        #expect(access(path + ".partial", F_OK) == 0)
        program.send(signal: SIGINT)
        let ending = try await program.ending()
        #expect(ending.status == 130)
        #expect(ending.errors.contains("3 of 300 bytes arrived"))
        #expect(try Self.content(path, in: folder) == nil)
        await peer.close()
    }

    @Test("The peer's file name is neither used as a path nor printed unescaped")
    func strangeName() async throws {
        let peer = try await ScriptedDevice { _ in "IMG_BEGIN ../../\u{1B}[2Jx 3\r\nAAAA\r\nIMG_END\r\n" }
        let folder = TemporaryFolder()
        let path = folder.path("image.png")
        let ending = try await Pumpctl.run("-p", peer.port, "peer", "image", "get", "-o", path)
        #expect(ending.status == 0)
        #expect(!(ending.output + ending.errors).contains("\u{1B}"))
        #expect(try Self.content(path, in: folder) == Data([0, 0, 0]))
        await peer.close()
    }

    @Test("A terminal shows the progress of an image", arguments: [true, false])
    func progress(isColoured: Bool) async throws {
        let terminal = try PseudoTerminal()
        let channel = terminal.channel()
        let shown = Watched(ReceivedText())
        await channel.gather(into: shown)
        let folder = TemporaryFolder()
        // The transfer of 6000 bytes takes longer than the delay before the first progress bar.
        let program = try await Pumpctl.start(
            ["-p", "sim:peer?size=6000", "peer", "image", "get", "-o", folder.path("image.png")],
            terminal: terminal.path, program: (isColoured ? ["env", "-u", "NO_COLOR"] : []) + [Executable.pumpctl])
        let text = try await shown.wait(for: "the end") { $0.text.contains("bytes in") ? $0.text : nil }
        #expect(text.contains(" of 6 kB"), "\(text)")
        #expect(text.contains("\u{1B}[32m") == isColoured, "\(text.debugDescription)")
        #expect(text.contains("\r\u{1B}[K6000 bytes in"), "\(text.debugDescription)")
        #expect(try await program.ending().status == 0)
        await channel.close()
    }

    @Test(
        "Invalid options for peers are refused",
        arguments: [
            ["-p", "sim:peer?size=127", "peer", "image", "get", "-o", "x"],
            ["-p", "sim:peer?fault=x", "peer", "image", "get", "-o", "x"],
            ["-p", "sim:peer?chunk=181", "peer", "image", "get", "-o", "x"],
            ["-p", "sim:peer?interval=x", "peer", "listen"],
            ["peer", "image", "get"], ["sim", "peer", "--size", "1"], ["sim", "peer", "--chunk", "0"],
            ["sim", "peer", "--fault", "x"], ["peer", "listen", "--count", "0"],
        ])
    func wrongOptions(words: [String]) async throws {
        let folder = TemporaryFolder()
        let inFolder = zip([""] + words, words).map { $0 == "-o" ? folder.path($1) : $1 }
        expectFailure(try await Pumpctl.start(inFolder).ending(), 64, hint: "")
        #expect(access(folder.path("x.partial"), F_OK) != 0)
    }
}
