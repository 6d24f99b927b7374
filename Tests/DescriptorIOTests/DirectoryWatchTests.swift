import DescriptorIO
import Glibc
import Testing

@Suite("Folder watches", .timeLimit(.minutes(5)))
struct DirectoryWatchTests {
    /// If the watch closed its descriptor twice, the number could belong to another file the second time.
    @Test("A failed watch of a missing folder closes no foreign descriptor")
    func noFolder() async {
        let watching = Task.detached {
            while !Task.isCancelled { #expect(DirectoryWatch(path: "/there/is/no/such/folder") == nil) }
        }
        var losses = 0
        for _ in 0..<200_000 {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if close(descriptor) != 0 { losses += 1 }
        }
        watching.cancel()
        await watching.value
        #expect(losses == 0)
    }
}
