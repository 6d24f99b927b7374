import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Unix sockets at which a process listens", .timeLimit(.minutes(5)))
struct ListeningSocketsTests {
    @Test("The path of a listening socket is found, and not those of its connections")
    func own() async throws {
        let folder = TemporaryFolder()
        let path = folder.path("a socket")
        let listener = try await SocketListener.listen(at: .unix(path: path))
        let client = try await DescriptorChannel.connect(to: .unix(path: path), deadline: .now + patience)
        let server = try #require(try await listener.accept())
        #expect(ListeningSockets().paths(of: getpid()).filter { $0 == path } == [path])
        await listener.close()
        // The connection has the listener's path too.
        #expect(!ListeningSockets().paths(of: getpid()).contains(path))
        await client.close()
        await server.close()
    }

    @Test("A relative path is completed by the working directory, and names without a file are left out")
    func relative() throws {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var status = stat()
        try #require(fstat(number, &status) == 0)
        for (name, paths) in [("a/b c", ["/proc/\(getpid())/cwd/a/b c"]), ("@hidden", []), ("", [])] {
            // The flags 00010000 mark a listening socket. The last line is a connection.
            let table = """
                Num       RefCount Protocol Flags    Type St Inode Path
                0000000000000000: 00000002 00000000 00010000 0001 01   \(status.st_ino) \(name)
                0000000000000000: 00000003 00000000 00000000 0001 03   \(status.st_ino + 1) /else

                """
            #expect(ListeningSockets(table: table).paths(of: getpid()) == paths)
        }
    }
}
