import Glibc
import Testing

@testable import DescriptorIO

@Suite("File lock holders") struct FileLockHolderTests {
    private static let locks = """
        1: FLOCK  ADVISORY  WRITE 4711 00:1a:123 0 EOF
        1: -> FLOCK  ADVISORY  WRITE 4712 00:1a:123 0 EOF
        2: POSIX  ADVISORY  WRITE 4713 00:1a:123 1073741824 1073742335
        3: FLOCK  ADVISORY  READ 4714 00:1a:123 0 EOF
        4: FLOCK  ADVISORY  READ 4714 00:1a:123 0 EOF
        5: FLOCK  ADVISORY  WRITE 0 00:1a:123 0 EOF
        6: FLOCK  ADVISORY  WRITE 4715 00:1a:1234 0 EOF
        7: FLOCK  ADVISORY  WRITE 4716 01:1a:123 0 EOF
        8: FLOCK
        """

    @Test func `Only holders of this lock are listed, not waiters, other locks or unknown processes`() {
        #expect(FileLocks(lines: Self.locks).processIDs["00:1a:123"] == [4711, 4714])
    }

    @Test func `The holder is found by any descriptor and by the path`() throws {
        let path = "/tmp/pumpctl-test-lock-\(getpid())"
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer {
            unlink(path)
            close(file)
        }
        let other = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(other) }
        #expect(FileLocks().holders(of: other) == [])
        try #require(flock(file, LOCK_EX | LOCK_NB) == 0)
        #expect(FileLocks().holders(of: other).map(\.processID) == [getpid()])
        #expect(FileLocks().holders(ofPath: path) == FileLocks().holders(of: other))
        #expect(FileLocks().holders(ofPath: "/proc/nowhere") == [])
    }

    @Test(arguments: [(0x1A, 0, 0x1A, "00:1a"), (0xFE00, 0xFE, 0, "fe:00"), (0xBC01, 188, 1, "bc:01")])
    func `A device number is split into major and minor and printed in hexadecimal`(
        number: Int, major: Int, minor: Int, text: String
    ) {
        let device = DeviceNumber(UInt64(number))
        #expect(device.major == major && device.minor == minor && device.hexadecimal == text)
    }

    @Test func `Major and minor numbers above 8 bits keep all digits`() {
        let device = DeviceNumber(0x0001_2000_6783_459A)
        #expect(device.major == 0x12345 && device.minor == 0x6789A)
    }
}
