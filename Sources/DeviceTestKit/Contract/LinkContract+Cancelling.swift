internal import LineProtocol

extension LinkContract {
    /// Requirements on calls whose task is cancelled.
    static let cancelling = [
        Requirement("A cancelled receive leaves the link working") { bench in
            let waiting = bench.startReceiving()
            await bench.settle()
            waiting.cancel()
            try bench.expect("the cancelled receive", await waiting.outcome, endsWith: .cancelled)
            try await bench.far.send("OK\r\n")
            try bench.expect("received", try await bench.receive(4), are: Array("OK\r\n".utf8))
            try await bench.send("OFF\n")
            try bench.expect("far end received", try await bench.far.receive(4), are: Array("OFF\n".utf8))
        },
        Requirement("A cancelled task does not start to receive") { bench in
            let task = bench.start { () throws(LinkError) in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await bench.link.receive()
            }
            try bench.expect("receiving", await task.outcome, endsWith: .cancelled)
            try await bench.far.send("OK")
            try bench.expect("received", try await bench.receive(2), are: Array("OK".utf8))
        },
        Requirement("Cancelling a receive at any moment loses no byte") { bench in
            var received: [UInt8] = []
            // Every other receive is waiting when it is cancelled; the others may not have begun. The byte arrives
            // before, during or after the cancellation, so repeat.
            for number in 0..<60 {
                let waiting = bench.startReceiving()
                if number % 2 == 0 { await bench.settle() }
                async let sending: Void = bench.far.send([UInt8(number)])
                waiting.cancel()
                switch await waiting.value {
                case .success(let bytes?): received += bytes
                case let result: try bench.expect("the cancelled receive", result, endsWith: .cancelled)
                }
                try await sending
            }
            received += try await bench.receive(60 - received.count)
            try bench.expect("received", received, are: (0..<60).map { UInt8($0) })
        },
        Requirement("A cancelled send ends, and the far end gets a prefix of it", needs: .holdsSenderBack) { bench in
            let bytes = payload(beyondBuffers, seed: 6)
            // A text that does not occur in the payload by chance.
            let end = Array("\n\n\n\nOFF\n".utf8)
            let sending = bench.startSending(bytes)
            try await bench.far.waitForBytes()
            await bench.settle()
            sending.cancel()
            try bench.expect("the cancelled send", await sending.outcome, endsWith: .cancelled)
            // The cancelled send neither blocks the next one nor sends more: the next text directly follows the bytes
            // that the link had accepted.
            let next = bench.startSending(end)
            let heard = try await bench.far.receive(until: end).dropLast(end.count)
            try bench.expect("the next send", await next.outcome, endsWith: nil)
            try bench.expect("far end received", Array(heard), are: Array(bytes.prefix(heard.count)))
        },
        Requirement("A queued send that is cancelled sends nothing", needs: .holdsSenderBack) { bench in
            let bytes = payload(beyondBuffers, seed: 7)
            let first = bench.startSending(bytes)
            try await bench.far.waitForBytes()
            let second = bench.startSending(Array("never".utf8))
            let third = bench.startSending(Array("third".utf8))
            await bench.settle()
            second.cancel()
            try bench.expect("the cancelled send", await second.outcome, endsWith: .cancelled)
            let heard = try await bench.far.receive(bytes.count + 5)
            try bench.expect("far end received", heard, are: bytes + Array("third".utf8))
            try bench.expect("the first send", await first.outcome, endsWith: nil)
            try bench.expect("the third send", await third.outcome, endsWith: nil)
        },
    ]
}
