import FirmwareSim
import Foundation
import TestSupport
import Testing

@Suite("Downloads to a file", .timeLimit(.minutes(5)))
struct DownloadTests {
    /// A command that downloads into a file.
    struct Download: Sendable, CustomTestStringConvertible {
        /// The command's words before the file.
        var words: [String]
        /// The command's query to the device.
        var question: String
        /// The simulator of a device with a long download, and the expected content.
        var simulator: [String]
        var content: @Sendable () -> [UInt8]

        var testDescription: String { words[0] }
    }

    private static let downloads = [
        Download(
            words: ["storm", "log", "get", "-o"], question: "GET_LOG",
            simulator: ["storm", "--rows", "100000", "--interval", "off"],
            content: { StormLog(seed: 7).text(rows: 0..<100_000) }),
        Download(
            words: ["peer", "image", "get", "-o"], question: "GET_IMAGE", simulator: ["peer", "--size", "300000"],
            content: { PeerPicture(seed: 7, byteCount: 300_000).bytes }),
    ]

    @Test("A silent device exits with 75 and leaves no file", arguments: downloads)
    func noAnswer(download: Download) async throws {
        let device = try await ScriptedDevice()
        let folder = TemporaryFolder()
        let words = ["-p", device.port, "--timeout", "0.2"] + download.words + [folder.path("file")]
        let ending = try await Pumpctl.start(words).ending()
        expectFailure(ending, 75, saying: "no answer to \(download.question) in 0.2 s", hint: "raise --timeout")
        try await device.heard.text(upTo: "\(download.question)\n")
        #expect(device.heard.state.text == "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        await device.close()
    }

    @Test(
        "An unwritable file is reported before the device is asked", arguments: downloads,
        ["/proc/nowhere/file", "/tmp"])
    func noFile(download: Download, path: String) async throws {
        let device = try await ScriptedDevice()
        let ending = try await Pumpctl.start(["-p", device.port] + download.words + [path]).ending()
        expectFailure(ending, 66, saying: path, hint: "another file")
        #expect(device.heard.state.text == "")
        await device.close()
    }

    @Test("A full disk is reported", arguments: downloads)
    func fullDisk(download: Download) async throws {
        let endpoint = "sim:\(download.simulator[0])?unpaced"
        let ending = try await Pumpctl.start(["-p", endpoint] + download.words + ["/dev/full"]).ending()
        expectFailure(ending, 74, saying: "/dev/full")
        if download.question == "GET_LOG" { #expect(ending.errors.contains("incomplete"), "\(ending)") }
    }

    @Test(
        "A download from a served simulator has the whole content", arguments: downloads, [["--pty"], ["--tcp", "0"]])
    func served(download: Download, place: [String]) async throws {
        let sim = try await Pumpctl.start(["sim"] + download.simulator + ["--unpaced", "--seed", "7"] + place)
        let port = String(try #require(try await sim.output.line().split(separator: " ").last))
        let folder = TemporaryFolder()
        let path = folder.path("file")
        #expect(try await Pumpctl.start(["-p", port] + download.words + [path]).ending().status == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(download.content()))
        sim.send(signal: SIGTERM)
        #expect(try await sim.ending().status == 143)
    }
}
