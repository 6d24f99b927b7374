import DeviceTestKit
import LineProtocol
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PeerImageDownloadTests {
    private static let data = PeerSpeech.data(300)
    private static let speech = PeerSpeech.image(data)

    /// A running download with a peer played by the test.
    private struct Bench {
        let clock = ManualClock()
        let link: ScriptedLink
        /// The pieces received so far.
        let pieces = Watched([PeerPiece]())
        let result: Task<Result<PeerImageDownload, PeerImageDownload.Failure>, Never>

        init(keepsPacketBounds: Bool = false, mayHaveReset: Bool = false) {
            let link = ScriptedLink(keepsPacketBounds: keepsPacketBounds, mayHaveReset: mayHaveReset)
            self.link = link
            let (clock, pieces) = (clock, pieces)
            result = Task {
                var download = PeerImageDownload(over: link, clock: clock, timeout: .seconds(3))
                do throws(PeerImageDownload.Failure) {
                    while let piece = try await download.next() { pieces.update { $0.append(piece) } }
                    return .success(download)
                } catch {
                    do throws(PeerImageDownload.Failure) {
                        _ = try await download.next()
                        Issue.record("a download that has failed goes on")
                    } catch let again {
                        #expect(again == error)
                    }
                    return .failure(error)
                }
            }
        }

        /// Delivers each message as a packet, or as a line if the link keeps no packet bounds.
        func say(_ messages: [String]) async {
            for message in messages { await link.deliver(message + (link.keepsPacketBounds ? "" : "\r\n")) }
        }

        /// Waits until the download sleeps until `deadline`, and advances the clock to it.
        func pass(to deadline: Duration) async {
            await clock.untilSomebodySleeps(until: deadline)
            clock.advance(by: deadline - clock.now.offset)
        }

        var failure: PeerImageDownload.Failure? {
            get async { if case .failure(let error) = await result.value { error } else { nil } }
        }
    }

    @Test(arguments: [false, true])
    func `An image is requested and received`(keepsPacketBounds: Bool) async throws {
        let bench = Bench(keepsPacketBounds: keepsPacketBounds)
        #expect(await bench.link.nextSent() == (keepsPacketBounds ? "GET_IMAGE" : "GET_IMAGE\n"))
        await bench.say(["HELLO from a @ b"] + Self.speech.prefix(2) + ["ON", "good day"] + Self.speech.dropFirst(2))
        let download = try await bench.result.value.get()
        #expect(download.image == PeerImage(name: "a.png", byteCount: 300))
        #expect(download.byteCount == 300)
        let pieces = bench.pieces.state
        #expect(pieces.imageData == Self.data)
        #expect(pieces.contains(.toggle(true)) && pieces.contains(.text("good day")))
        #expect(!pieces.contains(.imageEnds))
    }

    @Test func `A download whose request failed is over`() async {
        let link = ScriptedLink()
        var download = PeerImageDownload(over: link, clock: ManualClock())
        await link.end(with: LinkError(.disconnected, name: "scripted", activity: "receive"))
        let error = await #expect(throws: PeerImageDownload.Failure.self) { try await download.next() }
        // A second request would fail with `closed`.
        await link.close()
        let again = await #expect(throws: PeerImageDownload.Failure.self) { try await download.next() }
        #expect(again == error)
    }

    @Test func `A stalled image times out even while the peer sends text`() async throws {
        let bench = Bench()
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.clock.untilSomebodySleeps(until: .seconds(3))
        bench.clock.advance(by: .seconds(1))
        await bench.say(Array(Self.speech.prefix(2)))
        // The time-out counts from the last piece of the image that the download has read, so the clock must not
        // advance before the download has read this piece.
        _ = try await bench.pieces.wait(for: "the first piece of data") { $0.imageData.isEmpty ? nil : true }
        await bench.clock.untilSomebodySleeps(until: .seconds(4))
        bench.clock.advance(by: .seconds(2))
        await bench.say(["good day", "HELLO from a @ b"])
        await bench.pass(to: .seconds(4))
        guard case .session(let error)? = await bench.failure else { return #expect(Bool(false)) }
        #expect(error.code == .noAnswer)
    }

    @Test func `A peer that gives a reason has refused`() async {
        for speech in [["IMG_ERROR not_png"], Self.speech.prefix(2) + ["IMG_ERROR not_png"]] {
            let bench = Bench()
            #expect(await bench.link.nextSent() == "GET_IMAGE\n")
            await bench.say(speech)
            let error = SessionError(.refused, command: "GET_IMAGE", outcome: .nothingChanged, deviceCode: "not_png")
            #expect(await bench.failure == .session(error))
        }
    }

    @Test(
        arguments: [
            (["IMG_BEGIN a"], .beginBadFormat), (["IMG_BEGIN a 6000000"], .tooLarge),
            (["IMG_BEGIN a 3", "A===", "IMG_END"], .base64Invalid), (["IMG_BEGIN a 3", "IMG_END"], .sizeMismatch),
        ] as [([String], PeerImageError.Code)])
    func `An invalid image fails with its check`(speech: [String], code: PeerImageError.Code) async {
        let bench = Bench()
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.say(speech)
        guard case .image(let error)? = await bench.failure else {
            Issue.record("it did not fail by a check")
            return
        }
        #expect(error.code == code)
    }

    @Test func `A peer that sends no image in time has not answered, even if it sends text`() async {
        for text in ["", "good morning"] {
            let bench = Bench()
            #expect(await bench.link.nextSent() == "GET_IMAGE\n")
            await bench.clock.untilSomebodySleeps(until: .seconds(3))
            bench.clock.advance(by: .seconds(2))
            if !text.isEmpty { await bench.say([text]) }
            await bench.pass(to: .seconds(3))
            let error = SessionError(.noAnswer, command: "GET_IMAGE", outcome: .nothingChanged, waited: .seconds(3))
            #expect(await bench.failure == .session(error))
        }
    }

    @Test func `The time-out of a stalled image counts from its last line`() async {
        let bench = Bench()
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.clock.untilSomebodySleeps(until: .seconds(3))
        bench.clock.advance(by: .seconds(2))
        await bench.say([Self.speech[0]])
        await bench.pass(to: .seconds(5))
        guard case .session(let error)? = await bench.failure else {
            Issue.record("it did not fail")
            return
        }
        #expect(error.code == .noAnswer)
    }

    @Test func `The rest of an earlier image is waited for and dropped`() async throws {
        let bench = Bench()
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.clock.untilSomebodySleeps(until: .seconds(3))
        bench.clock.advance(by: .seconds(2))
        await bench.say([Self.speech[1]])
        await bench.clock.untilSomebodySleeps(until: .seconds(5))
        bench.clock.advance(by: .seconds(2))
        await bench.say(["IMG_END"] + Self.speech)
        #expect(try await bench.result.value.get().byteCount == 300)
        #expect(bench.pieces.state.first == .imageBegins(PeerImage(name: "a.png", byteCount: 300)))
    }

    @Test func `If the link breaks within the image, the download fails after the received data`() async {
        let bench = Bench()
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.say(Array(Self.speech.dropLast()))
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await bench.link.end(with: gone)
        let error = SessionError(.linkLost, command: "GET_IMAGE", outcome: .nothingChanged, link: gone)
        #expect(await bench.failure == .session(error))
        #expect(bench.pieces.state.imageData == Self.data)
    }

    @Test func `A cancelled download fails with cancelled`() async {
        let bench = Bench()
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.clock.untilSomebodySleeps(until: .seconds(3))
        bench.result.cancel()
        guard case .session(let error)? = await bench.failure else {
            Issue.record("it did not fail")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func `A board that may have been reset is greeted first`() async throws {
        let bench = Bench(mayHaveReset: true)
        #expect(await bench.link.nextSent() == "Hello\n")
        await bench.say(["Hello ack"])
        #expect(await bench.link.nextSent() == "GET_IMAGE\n")
        await bench.say(Self.speech)
        #expect(try await bench.result.value.get().byteCount == 300)
    }
}

@Suite(.timeLimit(.minutes(5))) struct PeerPiecesTests {
    @Test func `Pieces come one by one, and an unfinished line before the end of the link`() async throws {
        let link = ScriptedLink(backlog: ["ON\nIMG_BEGIN a 3\nAA", "AA\nhal"])
        let gone = LinkError(.disconnected, name: "scripted", activity: "receive")
        await link.end(with: gone)
        var pieces = PeerPieces(over: link).makeAsyncIterator()
        #expect(try await pieces.next() == .toggle(true))
        #expect(try await pieces.next() == .imageBegins(PeerImage(name: "a", byteCount: 3)))
        #expect(try await pieces.next() == .imageData([0, 0, 0]))
        #expect(try await pieces.next() == .text(PeerText(Array("hal".utf8), isCut: true)))
        // The image is complete except for its end line.
        #expect(try await pieces.next() == .imageEnds)
        await #expect(throws: gone) { try await pieces.next() }
    }

    @Test func `A closed link ends the pieces`() async throws {
        let link = ScriptedLink()
        await link.close()
        var pieces = PeerPieces(over: link).makeAsyncIterator()
        #expect(try await pieces.next() == nil)
    }
}
