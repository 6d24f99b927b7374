import DescriptorIO
import DeviceTestKit
import Glibc
import SerialPort
import TestSupport
import Testing

@testable import Terminal

@Suite("Writing to slow readers", .timeLimit(.minutes(5)))
struct StreamWriterTests {
    /// A pipe or a socket pair that is not being read yet.
    private struct Stream {
        let reader: CInt
        let writer: CInt

        init(isSocket: Bool = false) {
            var ends: [CInt] = [0, 0]
            if isSocket {
                let result = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
                precondition(result == 0)
            } else {
                // A FIFO, because Swift does not see `pipe2`: no child of another test may inherit the ends.
                let folder = TemporaryFolder()
                let path = folder.path("pipe")
                precondition(mkfifo(path, 0o600) == 0)
                ends = [open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), open(path, O_WRONLY | O_CLOEXEC)]
                precondition(!ends.contains(-1))
                _ = fcntl(ends[0], F_SETFL, 0)
            }
            (reader, writer) = (ends[0], ends[1])
        }

        /// Reads `count` bytes; fewer at the end of input.
        func read(_ count: Int) async throws -> [UInt8] {
            try await onThread { [reader] in
                var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
                while bytes.count < count {
                    let got = Glibc.read(reader, &buffer, min(buffer.count, count - bytes.count))
                    guard got > 0 else { break }
                    bytes += buffer[..<got]
                }
                return bytes
            }
        }
    }

    /// Lines that are all different. Together they are longer than the buffer of a pipe or a socket.
    private static let lines = (0..<20_000).map { "line \($0)\n" }

    @Test(
        "Writing does not block on a reader that does not read, and nothing is lost or reordered",
        arguments: [false, true])
    func stalled(isSocket: Bool) async throws {
        let stream = Stream(isSocket: isSocket)
        let writer = StreamWriter(stream.writer, patience: .milliseconds(1))
        for line in Self.lines { #expect(writer.write(line) == nil) }
        #expect(writer.isBehind)
        let text = Self.lines.joined()
        #expect(try await stream.read(text.utf8.count) == Array(text.utf8))
        // The last write has been read, but the writer may not have noticed yet.
        #expect(writer.write("more\n") == nil)
        #expect(try await stream.read(5) == Array("more\n".utf8))
    }

    @Test("Writing to a stopped terminal does not block, and all output appears when it resumes")
    func stoppedTerminal() async throws {
        let user = try await StoppedTerminal()
        let writer = StreamWriter(user.descriptor, patience: .milliseconds(1))
        #expect(writer.write("one\n") == nil)
        #expect(writer.write("two\n") == nil)
        #expect(writer.isBehind)
        user.goOn()
        try await user.screen.text(upTo: "one\r\ntwo\r\n")
        await user.close()
    }

    @Test("A writer that must not wait fails with EAGAIN beyond its limit, and loses nothing it took")
    func bounded() async throws {
        let stream = Stream()
        let writer = StreamWriter(stream.writer, patience: .zero, limit: 1000)
        writer.neverWait()
        var taken = ""
        for line in Self.lines {
            guard let errno = writer.write(line) else {
                taken += line
                continue
            }
            #expect(errno == EAGAIN)
            break
        }
        #expect(taken.utf8.count < Self.lines.joined().utf8.count)
        #expect(try await stream.read(taken.utf8.count) == Array(taken.utf8))
    }

    @Test("A writer that may wait delivers everything despite a small limit")
    func unbounded() async throws {
        let stream = Stream()
        let writer = StreamWriter(stream.writer, patience: .zero, limit: 1000)
        let text = Self.lines.joined()
        async let failures = onThread { Self.lines.compactMap { writer.write($0) } }
        #expect(try await stream.read(text.utf8.count) == Array(text.utf8))
        #expect(try await failures == [])
    }

    @Test("Writing continues after the descriptor was made to lead to another file")
    func exchanged() async throws {
        let (socket, pipe) = (Stream(isSocket: true), Stream())
        let writer = StreamWriter(socket.writer)
        #expect(writer.write("one") == nil)
        dup2(pipe.writer, socket.writer)
        #expect(writer.write("two") == nil)
        #expect(try await pipe.read(3) == Array("two".utf8))
    }

    @Test(
        "A later write reports that the reader has gone, also with output pending", arguments: [false, true])
    func readerGone(isBehind: Bool) async throws {
        signal(SIGPIPE, SIG_IGN)
        let stream = Stream()
        let writer = StreamWriter(stream.writer, patience: .milliseconds(1))
        if isBehind {
            for line in Self.lines { #expect(writer.write(line) == nil) }
            #expect(writer.isBehind)
        }
        close(stream.reader)
        // The buffered text fails in the background, and `write` does not wait for it.
        var errno: Int32?
        while errno == nil { errno = writer.write("x") }
        #expect(errno == EPIPE)
        #expect(!writer.isBehind)
    }

    @Test("After buffered text was lost, text that has waited for room is not written")
    func gap() async throws {
        var ends: [CInt] = [0, 0]
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        let (reader, descriptor) = (ends[0], ends[1])
        let writer = StreamWriter(descriptor, patience: .zero, limit: 1_000_000)
        while !writer.isBehind { #expect(writer.write("one") == nil) }
        // This text is too long for one datagram, so writing it fails.
        #expect(writer.write(String(repeating: "2", count: 990_000)) == nil)
        let later = Task { try await onThread { writer.write(String(repeating: "3", count: 20_000)) } }
        await settle()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while writer.isBehind { _ = recv(reader, &buffer, buffer.count, CInt(MSG_DONTWAIT)) }
        #expect(try await later.value == EMSGSIZE)
        #expect(writer.write("4") == EMSGSIZE)
        while case let count = recv(reader, &buffer, buffer.count, CInt(MSG_DONTWAIT)), count > 0 {
            #expect(buffer.prefix(count) == Array("one".utf8)[...])
        }
        close(reader)
        close(descriptor)
    }

    @Test("A reader that closes its end is noticed without a write; a file has no reader that could")
    func goneReader() async throws {
        for isSocket in [false, true] {
            let stream = Stream(isSocket: isSocket)
            let isGone = Watched<Bool?>(nil)
            let loss = Task {
                let isLost = await StreamWriter(stream.writer).losesReader(on: .shared)
                isGone.update { $0 = isLost }
            }
            await settle()
            #expect(isGone.state == nil)
            close(stream.reader)
            await loss.value
            #expect(isGone.state == true)
            close(stream.writer)
        }
        let terminal = try PseudoTerminal()
        let device = open(terminal.path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        let loss = Task { await StreamWriter(device).losesReader(on: .shared) }
        await settle()
        terminal.close()
        #expect(await loss.value)
        #expect(await StreamWriter(device).losesReader(on: .shared), "the terminal is closed already")
        close(device)
        let file = open("/dev/null", O_WRONLY | O_CLOEXEC)
        #expect(await !StreamWriter(file).losesReader(on: .shared))
        close(file)
    }
}

/// A terminal whose output is stopped until ``goOn()``.
private struct StoppedTerminal {
    let screen = Watched(ReceivedText())
    let descriptor: CInt
    private let channel: DescriptorChannel

    init() async throws {
        let terminal = try PseudoTerminal()
        descriptor = open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        precondition(descriptor >= 0)
        var settings = termios()
        tcgetattr(descriptor, &settings)
        settings.c_oflag |= tcflag_t(OPOST | ONLCR)
        tcsetattr(descriptor, TCSANOW, &settings)
        channel = terminal.channel()
        await channel.gather(into: screen)
        tcflow(descriptor, TCOOFF)
    }

    func goOn() { tcflow(descriptor, TCOON) }

    func close() async {
        await channel.close()
        Glibc.close(descriptor)
    }
}
