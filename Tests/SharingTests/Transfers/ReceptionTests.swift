import LineProtocol
import StrictJSON
import Testing

@testable import Sharing

@Suite("Contents that are received piece by piece")
struct ReceptionTests {
    /// Receives a reply that is cut into pieces of `length` bytes.
    private static func receive(
        _ reply: String, by length: Int, _ reception: any Reception
    ) -> (String, any Reception) {
        var (reception, bytes, rest) = (reception, [UInt8](), Array(reply.utf8)[...])
        while !rest.isEmpty {
            bytes += reception.take(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        bytes += reception.finish()
        return (String(decoding: bytes, as: UTF8.self), reception)
    }

    private static func code(_ reception: any Reception) -> String? {
        switch reception.failure {
        case .session(let error)?: error.code.rawValue
        case .brokenOff(let code, _, _)?, .damaged(let code, _, _)?: code
        case nil: nil
        }
    }

    @Test("A log is the same wherever its reply is cut", arguments: [1, 2, 3, 7, 1000])
    func log(length: Int) {
        // The last line could become the text of a boot ROM.
        let log = "1 2 3 4.5\r\n1 2 3 -6\nerror \n1 2 3 7\nets Jul"
        let (text, reception) = Self.receive("GET_LOG\r\nLOG Values: \(log)", by: length, LogReception())
        #expect(text == log)
        #expect(reception.failure == nil && reception.hasBegun)
        #expect(reception.check == ["check": "lines", "lines": 5, "odd_lines": 2])
    }

    @Test("A log without its announcement begins with its first measurement", arguments: [1, 1000])
    func unannounced(length: Int) {
        let (text, reception) = Self.receive("odd\n1 2 3 4\n", by: length, LogReception())
        #expect(text == "odd\n1 2 3 4\n" && reception.failure == nil && reception.hasBegun)
        let (none, stranger) = Self.receive("ERROR:UNKNOWN_COMMAND\r\n", by: length, LogReception())
        #expect(none == "" && Self.code(stranger) == "not_understood" && !stranger.hasBegun)
    }

    @Test("An empty log is complete")
    func empty() {
        let (text, reception) = Self.receive("LOG Values: \r\n", by: 1000, LogReception())
        #expect(text == "" && reception.failure == nil && reception.hasBegun)
        #expect(reception.check["lines"] == 0)
    }

    @Test("A log that a restart cuts off has the bytes before the restart, and none after it", arguments: [1, 5, 1000])
    func restarted(length: Int) {
        let reply = "LOG Values: 1 2 3 4\n5 6ets Jul 29 2019 12:21:46\r\n\r\nrst:0x1 (POWERON_RESET)\r\nLIVE LOG: 1"
        let (text, reception) = Self.receive(reply, by: length, LogReception())
        #expect(text == "1 2 3 4\n5 6")
        #expect(Self.code(reception) == "restarted")
    }

    @Test("An image is the same wherever its reply is cut", arguments: [1, 2, 3, 7, 1000])
    func image(length: Int) {
        let reply = "IMG_END\r\nIMG_BEGIN my a.png 5\r\nQUJD\r\nREU=\r\nIMG_END\r\n"
        let (text, reception) = Self.receive(reply, by: length, ImageReception())
        #expect(text == "ABCDE" && reception.failure == nil)
        #expect(reception.byteCount == 5 && reception.check == ["check": "size", "name": "my a.png"])
    }

    @Test("An image without its end fails with no_answer", arguments: ["", "IMG_BEGIN a.png 3\r\nQUJD\r\n"])
    func endless(reply: String) {
        let (_, reception) = Self.receive(reply, by: 1000, ImageReception())
        #expect(Self.code(reception) == "no_answer")
    }
}
