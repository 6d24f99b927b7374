import BlueZ
import DeviceKit
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite struct BLEMemoryFileTests {
    private let folder = TemporaryFolder()
    private let first = BluetoothAddress("00:15:83:00:00:10")!
    private let second = BluetoothAddress("00:15:83:00:00:20")!

    private func text(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65536)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }

    @Test func `A name leads to its last address, in any case`() throws {
        let memory = BLEMemoryFile(path: folder.path("a/b/devices"))
        #expect(memory.address(of: "HMSoft") == nil)
        memory.remember(first, as: "HMSoft")
        memory.remember(second, as: "Lamp")
        memory.remember(second, as: "hmsoft")
        #expect(memory.address(of: "HMSOFT") == second)
        #expect(memory.names == ["Lamp", "hmsoft"])
        #expect(text(memory.path) == "00:15:83:00:00:20 Lamp\n00:15:83:00:00:20 hmsoft\n")
        #expect(try memory.forget("LAMP").map(\.name) == ["Lamp"])
        #expect(try memory.forget("LAMP").isEmpty)
        #expect(memory.names == ["hmsoft"])
    }

    @Test func `The file and its folder are readable only by the user`() {
        let memory = BLEMemoryFile(path: folder.path("state/devices"))
        memory.remember(first, as: "HMSoft")
        var status = stat()
        #expect(stat(memory.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(stat(folder.path("state"), &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test func `A folder is created with its parents; a file in the root folder needs none`() {
        PrivateFolder.make(folder.path("a//b/"))
        var status = stat()
        #expect(stat(folder.path("a/b"), &status) == 0)
        PrivateFolder.make("")
    }

    @Test func `A name may contain line ends, and lines that are no entries are kept`() throws {
        let memory = BLEMemoryFile(path: folder.write("# by hand\n", to: "devices"))
        let name = "a\nb\\n\\"
        memory.remember(first, as: name)
        #expect(memory.address(of: name) == first)
        #expect(text(memory.path) == "# by hand\n00:15:83:00:00:10 a\\nb\\\\n\\\\\n")
        #expect(try memory.forget(nil).map(\.name) == [name])
        #expect(text(memory.path) == "# by hand\n")
    }

    @Test func `Beyond the limit the oldest names are dropped`() {
        let memory = BLEMemoryFile(path: folder.path("devices"))
        let names = (0...BLEMemoryFile.limit).map { "Lamp \($0)" }
        _ = folder.write(names.dropLast().map { "00:15:83:00:00:10 \($0)\n" }.joined(), to: "devices")
        memory.remember(first, as: names.last ?? "")
        #expect(memory.names == Array(names.dropFirst()))
    }

    @Test func `An unusable file is reported, and lookups go on without it`() throws {
        let problems = Mutex<[FileError]>([])
        let path = folder.write("", to: "file") + "/devices"
        let memory = BLEMemoryFile(path: path) { error in problems.withLock { $0.append(error) } }
        #expect(memory.address(of: "HMSoft") == nil)
        memory.remember(first, as: "HMSoft")
        #expect(problems.withLock { $0 } == [FileError(path: path, errno: ENOTDIR)])
        try folder.makeFolder("devices")
        let unreadable = BLEMemoryFile(path: folder.path("devices"))
        #expect(throws: FileError.self) { try unreadable.forget(nil) }
        #expect(unreadable.names == [])
    }
}
