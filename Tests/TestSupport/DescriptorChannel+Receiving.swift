public import DescriptorIO

extension DescriptorChannel {
    /// Collects all input from now on, until its end. A read error counts as the end.
    public nonisolated func receivedText() -> Watched<ReceivedText> {
        let received = Watched(ReceivedText())
        Task {
            while let bytes = try? await self.read() { received.update { $0.bytes += bytes } }
            received.update { $0.hasEnded = true }
        }
        return received
    }
}
