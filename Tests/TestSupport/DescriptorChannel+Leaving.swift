public import DescriptorIO
internal import Glibc

extension DescriptorChannel {
    /// Closes a socket so that the far end learns of it at once: a child that is just being started has a copy of every
    /// descriptor until it runs.
    public func leave() {
        try? withDescriptor { _ = shutdown($0, CInt(SHUT_RDWR)) }
        close()
    }
}
