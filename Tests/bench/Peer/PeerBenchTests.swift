import DescriptorIO
import DeviceTestKit
import FirmwareSim
import Foundation
import LineProtocol
import TestSupport
import Testing
import Transports

@Suite("Bench: simulated text and image peer", .timeLimit(.minutes(5)))
struct PeerBenchTests {
    /// The time limit of the start of an image and of each piece, so long that a busy machine fails no test.
    static let patience = Duration.seconds(60)

    /// Calls `body` with a peer and a link to it, and ends both afterwards.
    private func run(
        _ place: DevicePlace, _ options: PeerFirmwareOptions,
        _ body: (any PlacedDevice<PeerFirmware>, any Link) async throws -> Void
    ) async throws {
        let peer = try await place.peer(options)
        do {
            let link = try await peer.link()
            try await body(peer, link)
            await link.close()
        } catch {
            await peer.stop()
            throw error
        }
        await peer.stop()
    }

    private func fetch(over link: any Link) async throws(PeerImageDownload.Failure) -> [UInt8] {
        var download = PeerImageDownload(over: link, clock: ContinuousClock(), timeout: Self.patience)
        var image: [UInt8] = []
        while let piece = try await download.next() {
            if case .imageData(let bytes) = piece { image += bytes }
        }
        return image
    }

    @Test("Text and toggles arrive in order", arguments: DevicePlace.spacious)
    func dialogue(place: DevicePlace) async throws {
        try await run(place, PeerFirmwareOptions(carrier: .line(.unlimited), acknowledges: true)) { peer, link in
            // The clock stands still, so that on a busy machine a late reply is not taken for a missing one.
            var dialogue = PeerDialogue(over: link, clock: ManualClock())
            try await dialogue.meet()
            for isOn in [true, true, false, true] {
                try await dialogue.say(.toggle(isOn))
                #expect(await peer.change { peer, _ in peer.isOn } == isOn)
            }
            // bluetoothd as a peripheral accepts at most 510 bytes in a write.
            let texts = ["hello", "Grüße ☂", String(repeating: "x", count: place == .ble ? 510 : 2000)]
            for text in texts { try await dialogue.say(.message(PeerMessage(text))) }
            #expect(await peer.change { peer, _ in peer.messages } == texts.map { Array($0.utf8) })
        }
    }

    @Test("Two images over one link arrive intact", arguments: DevicePlace.spacious, [128, 20_001])
    func image(place: DevicePlace, size: Int) async throws {
        for chunkLength in [180, 77] {
            let options = PeerFirmwareOptions(
                carrier: .line(.unlimited), seed: 7, imageByteCount: size, chunkLength: chunkLength)
            try await run(place, options) { peer, link in
                for _ in 0..<2 {
                    let image = try await fetch(over: link)
                    #expect(image == PeerPicture(seed: 7, byteCount: size).bytes)
                }
            }
        }
    }

    @Test("100 kB at 115200 baud take 11.7 s and arrive intact")
    func paced() async throws {
        let options = PeerFirmwareOptions(seed: 7, imageByteCount: 100_000, interval: .seconds(1))
        try await run(.terminal, options) { peer, link in
            let image = try await fetch(over: link)
            #expect(image == PeerPicture(seed: 7, byteCount: 100_000).bytes)
            let time = await peer.change { _, now in now }
            // In base64 100,000 bytes have 133,336 characters. Each line of 180 characters has a line end of two bytes.
            let byteCount = 133_336 + 133_336 / 180 * 2
            #expect(time >= .seconds(10) * byteCount / 115_200)
            #expect(time < .seconds(11) * byteCount / 115_200)
        }
    }

    @Test("A faulty image is reported with the code of its fault", arguments: DevicePlace.spacious)
    func faults(place: DevicePlace) async throws {
        for fault in PeerFirmwareOptions.ImageFault.allCases where fault != .stalls {
            let options = PeerFirmwareOptions(carrier: .line(.unlimited), imageFault: fault)
            try await run(place, options) { peer, link in
                do throws(PeerImageDownload.Failure) {
                    _ = try await fetch(over: link)
                    Issue.record("an image with \(fault) was taken")
                } catch {
                    switch error {
                    case .image(let error): #expect(error.code.rawValue == fault.rawValue)
                    case .session(let error): #expect(error.deviceCode == fault.rawValue)
                    }
                }
            }
        }
    }
}

@Suite("Bench: pumpctl peer image get", .timeLimit(.minutes(5)))
struct ImageGetBenchTests {
    @Test(
        "An image of 3 MB arrives intact, and except over BLE takes at most 2.5 MB more memory than one of 1 kB",
        arguments: DevicePlace.spacious)
    func memory(place: DevicePlace) async throws {
        let little = try await peak(place, size: 1000)
        let much = try await peak(place, size: 3_000_000)
        // Notifications have no back-pressure: on a busy machine half of an image was seen to queue up in pumpctl.
        if place == .ble { return }
        // On a busy machine some input that pumpctl has not handled yet may be part of the difference.
        #expect(much - little < 2500, "\(little) kB for 1 kB, \(much) kB for 3 MB")
    }

    /// Fetches an image with pumpctl, and compares it with the peer's; returns pumpctl's maximum memory in kB.
    private func peak(_ place: DevicePlace, size: Int) async throws -> Int {
        let options = PeerFirmwareOptions(carrier: .line(.unlimited), seed: 7, imageByteCount: size)
        let peer = try await place.peer(options)
        let folder = TemporaryFolder()
        let path = folder.path("image.png")
        let peak = try await MeasuredProgram.peak(
            of: "-p", peer.endpoint, "--timeout", "60", "--json", "peer", "image", "get", "-o", path,
            environment: peer.environment)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(PeerPicture(seed: 7, byteCount: size).bytes))
        await peer.stop()
        return peak
    }

    @Test(
        "If the peer vanishes during the image, pumpctl exits with 74 and leaves no file",
        arguments: DevicePlace.spacious)
    func lost(place: DevicePlace) async throws {
        let options = PeerFirmwareOptions(carrier: .line(.unlimited), imageFault: .stalls)
        let peer = try await place.peer(options)
        let folder = TemporaryFolder()
        let path = folder.path("image.png")
        let program = try await ChildProcess(
            [Executable.pumpctl, "-v", "-p", peer.endpoint, "--timeout", "60", "peer", "image", "get", "-o", path],
            environment: ChildProcess.surroundings.merging(peer.environment) { $1 })
        try await program.errors.text(upTo: "IMG_BEGIN image.png 20000")
        await peer.stop()
        let ending = try await program.ending()
        #expect(ending.status == 74, "\(ending)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
}
